import { type Problem, problem, UserError } from "../../../plan/problem.ts";
import { readApiKey, registerHeaders } from "../../../plan/secrets.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import type { GenaiSettings } from "../options/settings.ts";

type Header = readonly [name: string, value: string];

/**
 * Returns the headers of every request: the user's (`Name:Value`), the API key, and those that the endpoint type requires. The key is read
 * from the environment and sent, and never stored.
 * @throws UserError for invalid headers, and for an environment variable that is not set
 */
export function headersOf(
  { endpoint, input, rampart }: GenaiSettings,
  env: Readonly<Record<string, string | undefined>>,
): Header[] {
  const problems: Problem[] = [];
  const { keyHeader, headers: required = [] } = ENDPOINT_TYPES[endpoint.type];
  const hasHeader = (name: string): boolean => headers.some(([other]) => other.toLowerCase() === name.toLowerCase());
  const headers = input.headers.flatMap((text): Header[] => {
    const colon = text.indexOf(":");
    if (colon > 0) return [[text.slice(0, colon).trim(), text.slice(colon + 1).trim()]];
    problems.push(problem("invalid-value", "--header", "is not a header", "Write Name:Value.", text));
    return [];
  });
  registerHeaders(headers);
  const keyName = rampart.shared["api-key-env"] ?? "";
  if (keyName !== "") {
    const read = readApiKey(String(keyName), env);
    const name = keyHeader ?? "Authorization";
    if (hasHeader(name)) {
      const message = `--header and --api-key-env both give ${name}`;
      problems.push(problem("conflict", "--header", message, "Leave one of them out: servers take either."));
    } else if ("key" in read) headers.push([name, name === keyHeader ? read.key : `Bearer ${read.key}`]);
    else problems.push(problem("missing", "--api-key-env", read.problem, `Set it: export ${keyName}=…`));
  }
  headers.push(...required.filter(([name]) => !hasHeader(name)));
  if (problems.length > 0) throw new UserError(problems);
  return headers;
}
