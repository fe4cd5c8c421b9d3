import { problem, UserError } from "../../../plan/problem.ts";
import { parseLimit, type ResultLimit } from "../../../report/genai-perf/limits.ts";
import type { GenaiSettings } from "../options/settings.ts";

/** Reads the limits of a search; undefined without a search. @throws UserError for invalid limits */
export function readSearchLimits({ rampart }: GenaiSettings): ResultLimit[] | undefined {
  if (rampart.searchLimits === null) return undefined;
  const limits: ResultLimit[] = [];
  const problems = Object.entries(rampart.searchLimits).flatMap(([name, value]) => {
    const limit = parseLimit(name, value);
    if (typeof limit !== "string") limits.push(limit);
    const hint = "Write for example request_latency.p99:300, or request_latency:300 for the average.";
    return typeof limit === "string" ? [problem("unknown-name", "--search-limits", limit, hint, name)] : [];
  });
  if (problems.length > 0) throw new UserError(problems);
  return limits;
}
