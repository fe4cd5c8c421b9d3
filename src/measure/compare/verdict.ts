import type { Direction } from "../../plan/assertions.ts";
import type { Change } from "./change.ts";

/**
 * Result of comparing a metric.
 *
 * - `better`, `worse`: the means of the runs differ, with 95 % confidence
 * - `changed`: they differ, and neither direction of the metric is better
 * - `no-difference`: no difference is shown, and one larger than the precision is excluded
 * - `inconclusive`: the interval includes both no difference and a difference that matters, or there is no interval
 */
export type ChangeVerdict = "better" | "worse" | "changed" | "no-difference" | "inconclusive";

/** Smallest difference between ratios of requests that matters: half a percentage point. */
export const POINTS_PRECISION = 0.005;

/** Judges a change. @param precision smallest relative difference that matters, above 0: 0.05 for 5 % */
export function judgeChange(change: Change, better: Direction | undefined, precision: number): ChangeVerdict {
  const { low, high } = change;
  const none = noneOf(change);
  const isAbove = low !== null && low > none;
  const isBelow = high !== null && high < none;
  if (isAbove || isBelow) {
    if (better === undefined) return "changed";
    return isAbove === (better === "higher") ? "better" : "worse";
  }
  if (low === null || high === null) return "inconclusive";
  const matters = mattersAt(change, precision);
  return low >= none - matters && high <= none + matters ? "no-difference" : "inconclusive";
}

/** Returns the value that means "no change". */
export function noneOf({ kind }: Change): number {
  return kind === "ratio" ? 1 : 0;
}

/** Returns the smallest change that matters, in the unit of the change. */
export function mattersAt({ kind }: Change, precision: number): number {
  return kind === "ratio" ? precision : POINTS_PRECISION;
}
