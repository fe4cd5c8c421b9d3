import { type Problem, problem } from "../plan/problem.ts";
import type { FlagValues } from "./flags.ts";

/** Reads `--header "NAME: VALUE"`, which may be given several times. @param problems receives wrong and repeated headers */
export function readHeaders(flags: FlagValues, problems: Problem[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const text of flags.texts("header")) {
    const colon = text.indexOf(":");
    const name = text.slice(0, Math.max(colon, 0)).trim();
    if (colon <= 0)
      problems.push(problem("invalid-value", "--header", "is not a header", 'Write "NAME: VALUE".', text));
    else if ([...headers.keys()].some((given) => given.toLowerCase() === name.toLowerCase()))
      problems.push(problem("conflict", "--header", `gives ${name} twice`, "Join the values in one header.", text));
    else headers.set(name, text.slice(colon + 1).trim());
  }
  return Object.fromEntries(headers);
}
