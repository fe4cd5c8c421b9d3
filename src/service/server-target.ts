import { userError } from "../plan/problem.ts";
import { readApiKey, registerHeaders, registerSecret, registerUrl } from "../plan/secrets.ts";
import type { Header } from "../transport/request.ts";

/** Fields that targets of several service kinds share. */
interface ServerTarget {
  readonly url: string;
  readonly moreUrls?: readonly string[] | undefined;
  readonly protocol: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Environment variable with an API key. */
  readonly apiKeyEnv?: string | undefined;
}

function serverUrls({ url, moreUrls = [] }: ServerTarget): readonly string[] {
  return [url, ...moreUrls];
}

/** Describes the addresses: `gpu-host:8000 and 1 more over http`. */
export function describeServer({ url, moreUrls = [], protocol }: ServerTarget): string {
  return `${url}${describeOthers(moreUrls)} over ${protocol}`;
}

/** Describes further addresses: ` and 1 more`. Empty if there are none. */
export function describeOthers({ length }: readonly string[]): string {
  return length === 0 ? "" : ` and ${length} more`;
}

/** Registers the secrets in addresses and headers, and the API key. */
export function registerServerSecrets(target: ServerTarget): void {
  for (const url of serverUrls(target)) registerUrl(url);
  registerHeaders(target.headers);
  if (target.apiKeyEnv !== undefined) registerSecret(process.env[target.apiKeyEnv] ?? "");
}

/** Parts that all service kinds of servers at addresses share. */
export const OF_SERVERS = { urls: serverUrls, describe: describeServer, registerSecrets: registerServerSecrets };

/**
 * Adds the key in an environment variable to the headers of every request.
 * @param name name of the variable; undefined: no key
 * @throws UserError if the variable is not set
 */
export function withApiKey(headers: readonly Header[], name: string | undefined): readonly Header[] {
  if (name === undefined) return headers;
  const read = readApiKey(name);
  if ("key" in read) return [...headers, ["Authorization", `Bearer ${read.key}`]];
  throw userError("missing", "target.apiKeyEnv", read.problem, `Set it: export ${name}=…`);
}
