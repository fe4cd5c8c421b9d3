import { registerHeaders, registerUrl } from "../plan/secrets.ts";

/** What targets of several service kinds have in common. */
interface ServerTarget {
  readonly url: string;
  readonly moreUrls?: readonly string[] | undefined;
  readonly protocol: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Returns all servers of a target, the first one first. */
export function serverUrls({ url, moreUrls = [] }: ServerTarget): readonly string[] {
  return [url, ...moreUrls];
}

/** Describes where a target is. */
export function describeServer({ url, protocol }: ServerTarget): string {
  return `${url} over ${protocol}`;
}

/** Registers the secrets in addresses and headers. */
export function registerServerSecrets(target: ServerTarget): void {
  for (const url of serverUrls(target)) registerUrl(url);
  registerHeaders(target.headers);
}
