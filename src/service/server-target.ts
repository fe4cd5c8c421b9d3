import { registerHeaders, registerUrl } from "../plan/secrets.ts";

/** What the targets of several service kinds have in common, beside their schemas. */
interface ServerTarget {
  readonly url: string;
  readonly moreUrls?: readonly string[] | undefined;
  readonly protocol: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** All servers of a target, the first one first. */
export function serverUrls({ url, moreUrls = [] }: ServerTarget): readonly string[] {
  return [url, ...moreUrls];
}

/** Where a target is, in words. */
export function describeServer({ url, protocol }: ServerTarget): string {
  return `${url} over ${protocol}`;
}

/** Registers what addresses and headers hold of secrets. */
export function registerServerSecrets(target: ServerTarget): void {
  for (const url of serverUrls(target)) registerUrl(url);
  registerHeaders(target.headers);
}
