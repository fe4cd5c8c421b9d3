import type { LevelResult, RunResult } from "../../result/run-result.ts";

/** What of the levels perf_analyzer's console and CSV show. */

/** perf_analyzer's words for a level in which no request succeeded. */
export const NO_VALID_REQUESTS = "No valid requests recorded within time interval. Please use a larger time window.";

/** Levels that stand in the summary and the CSV. */
export function printedLevels(result: RunResult): LevelResult[] {
  // What a run measured before it failed is the user's in a scenario; the original keeps it to itself.
  const keepsPartial = result.isInterrupted || result.prepared.plan.outputs.style === "rampart";
  return result.levels.filter(
    ({ outcome, window }) =>
      window.requestCount > 0 && (outcome === "measured" || (outcome === "partial" && keepsPartial)),
  );
}

/** The percentiles reported, ascending. */
export function reportedPercentiles(percentile: number | null): number[] {
  const all = new Set([50, 90, 95, 99, ...(percentile === null ? [] : [percentile])]);
  return [...all].sort((a, b) => a - b);
}
