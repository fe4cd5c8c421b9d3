import { type Problem, UserError } from "../../../plan/problem.ts";
import type { GenaiSettings } from "../settings.ts";

type Header = readonly [name: string, value: string];

/**
 * The headers of every request: the user's own (`Name:Value`), and the API key's. The key is only ever in the environment and on the wire.
 * @throws UserError for headers that are none, and for a variable that is not set
 */
export function headersOf(
  { input, rampart }: GenaiSettings,
  env: Readonly<Record<string, string | undefined>>,
): Header[] {
  const problems: Problem[] = [];
  const headers = input.headers.flatMap((text): Header[] => {
    const colon = text.indexOf(":");
    if (colon > 0) return [[text.slice(0, colon).trim(), text.slice(colon + 1).trim()]];
    problems.push({ path: "--header", message: "is no header", value: text, hint: "Write Name:Value." });
    return [];
  });
  if (rampart.apiKeyEnv !== "") {
    const key = env[rampart.apiKeyEnv];
    if (key !== undefined && key !== "") headers.push(["Authorization", `Bearer ${key}`]);
    else
      problems.push({
        path: "--api-key-env",
        message: `the environment has no variable ${rampart.apiKeyEnv}`,
        hint: `Set it: export ${rampart.apiKeyEnv}=…`,
      });
  }
  if (problems.length > 0) throw new UserError(problems);
  return headers;
}
