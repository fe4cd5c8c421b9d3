import type { AssertionPlan } from "../plan/assertions.ts";
import type { Uncertain } from "./intervals/certainty.ts";
import { binomialAtMost } from "./intervals/distributions.ts";

/**
 * Result of judging an assertion, a check of a phase, a search, or a run.
 *
 * - `pass`, `fail`: certain
 * - `unresolved`: not measured, or the measurement does not decide
 */
export type VerdictState = "pass" | "fail" | "unresolved";

const ORDER: readonly VerdictState[] = ["fail", "unresolved", "pass"];

/** Combines results: `fail` if one fails, else `unresolved` if one is, else `pass`. */
export function worstState(states: readonly VerdictState[]): VerdictState {
  return ORDER.find((state) => states.includes(state)) ?? "pass";
}

/** Compares results for sorting, worst first. */
export function compareStates(a: VerdictState, b: VerdictState): number {
  return ORDER.indexOf(a) - ORDER.indexOf(b);
}

/** Comparison of a limit that is not a single value. */
type LimitComparison = AssertionPlan["comparison"];

/** Reports whether a comparison limits values from above. */
export function isUpperLimit(comparison: LimitComparison): boolean {
  return comparison === "below" || comparison === "at-most";
}

function keepsLimit({ comparison, limit }: Pick<AssertionPlan, "comparison" | "limit">, value: number): boolean {
  switch (comparison) {
    case "below":
      return value < limit;
    case "at-most":
      return value <= limit;
    case "above":
      return value > limit;
    case "at-least":
      return value >= limit;
    case "is":
      return value === limit;
  }
}

/** Judges a value that counts as exact. */
export function judgeValue(limit: Pick<AssertionPlan, "comparison" | "limit">, value: number): VerdictState {
  return keepsLimit(limit, value) ? "pass" : "fail";
}

/** Judges a value by its interval: passes if the whole interval is within the limit, and fails if none of it is. */
export function judgeInterval(
  limit: Pick<AssertionPlan, "comparison" | "limit">,
  { value, low, high }: Pick<Uncertain, "value" | "low" | "high">,
): VerdictState {
  if (limit.comparison === "is") return judgeValue(limit, value);
  const ends = [low ?? Number.NEGATIVE_INFINITY, high ?? Number.POSITIVE_INFINITY] as const;
  const [atLow, atHigh] = [keepsLimit(limit, ends[0]), keepsLimit(limit, ends[1])];
  if (atLow !== atHigh) return "unresolved";
  return atLow ? "pass" : "fail";
}

/** Minimum effective sample size for judging a mean, so that a limit far away is decided. */
export const LEAST_JUDGED_COUNT = 2;

/** The number of values of a sample on the upper side of a limit. */
export interface SampleAbove {
  /** Number of values; 1 or more. */
  readonly count: number;
  /** Number of values above an upper limit, or within a lower one. */
  readonly aboveCount: number;
  /** Effective sample size for this share: 1 to `count`. */
  readonly effectiveCount: number;
}

/** Maximum probability of a wrong verdict on a percentile. */
const ERROR_RATIO = 0.05;

/**
 * Judges a percentile by the share of the sample above the limit: p99 is below a limit if less than 1 % of the requests are
 * above it. The exact binomial test of that share at 95 % decides (Clopper and Pearson, Biometrika 26, 1934). For a limit far
 * from all values, the smallest sample that can show the percentile is enough ({@link requestsToShow}).
 * @param percentile above 0 and below 100
 */
export function judgePercentile(
  comparison: LimitComparison,
  percentile: number,
  { count, aboveCount }: Pick<SampleAbove, "count" | "aboveCount">,
): VerdictState {
  const share = shareAbove(percentile);
  if (binomialAtMost(aboveCount, count, share) <= ERROR_RATIO) return isUpperLimit(comparison) ? "pass" : "fail";
  const isMany = 1 - binomialAtMost(aboveCount - 1, count, share) <= ERROR_RATIO;
  if (isMany) return isUpperLimit(comparison) ? "fail" : "pass";
  return "unresolved";
}

/**
 * Returns the smallest number of requests that can show that a percentile is within a limit: 299 for p99 below it, 59 for p95,
 * 29 for p90, 5 for p50.
 */
export function requestsToShow(comparison: LimitComparison, percentile: number): number {
  const share = shareAbove(percentile);
  return Math.ceil(Math.log(ERROR_RATIO) / Math.log(isUpperLimit(comparison) ? 1 - share : share));
}

/** Returns the share above a percentile, 0 to 1, without the rounding error of 100 - 99.9. */
export function shareAbove(percentile: number): number {
  return Number(((100 - percentile) / 100).toPrecision(12));
}
