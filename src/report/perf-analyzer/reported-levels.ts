import type { Plan } from "../../plan/plan.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";

/** perf_analyzer's message for a level without a successful request. */
export const NO_VALID_REQUESTS = "No valid requests recorded within time interval. Please use a larger time window.";

/** Returns a level as perf_analyzer shows it. */
export function shownLevel({ load }: Plan, level: number): number {
  return loadModeOf(load).perfAnalyzer?.hasWholeLevel === true ? Math.floor(level) : level;
}

/** Returns the levels of the summary and the CSV. */
export function reportedLevels({ levels, isInterrupted, prepared: { plan } }: RunResult): LevelResult[] {
  // Scenarios report the measurements before a failure; perf_analyzer does not.
  const keepsPartial = isInterrupted || plan.outputs.style === "rampart";
  return levels
    .filter(
      ({ outcome, window }) =>
        window.requestCount > 0 && (outcome === "measured" || (outcome === "partial" && keepsPartial)),
    )
    .map((result) => ({ ...result, level: shownLevel(plan, result.level) }));
}

/** Returns the reported percentiles, ascending. */
export function reportedPercentiles(percentile: number | null): number[] {
  const all = new Set([50, 90, 95, 99, ...(percentile === null ? [] : [percentile])]);
  return [...all].sort((a, b) => a - b);
}
