import type { AssertionPlan } from "../../plan/assertions.ts";
import type { JudgedLevel } from "../verdicts.ts";
import { estimateMetric, type MetricEstimate } from "./estimate-metric.ts";
import { LIMIT_ERROR } from "./looks.ts";

/**
 * Whether a limit is kept at a level.
 *
 * - `kept`, `broken`: the whole confidence interval is on that side of the limit
 * - `unresolved`: the limit is inside the interval, or there is no value
 */
export type LimitState = "kept" | "broken" | "unresolved";

/** A limit at one level. */
export interface LimitVerdict {
  readonly limit: AssertionPlan;
  readonly state: LimitState;
  /** Absent without a value. */
  readonly estimate?: MetricEstimate;
}

/**
 * Judges the limits at a level. One broken limit breaks the level, so each gets a part of the error of that. All must be kept to keep it: there
 * each has the whole error.
 * @param batchSize inferences per request
 * @param error probability of a wrong decision, for each side. Default: that of judging once
 */
export function judgeLimits(
  limits: readonly AssertionPlan[],
  level: JudgedLevel,
  batchSize: number,
  error: number = LIMIT_ERROR,
): LimitVerdict[] {
  return limits.map((limit) => {
    const [near, far] = [error, error / limits.length].map((missed) =>
      estimateMetric(limit.metric, level, batchSize, 1 - 2 * missed),
    );
    if (near === undefined || far === undefined) return { limit, state: "unresolved" };
    const isCeiling = limit.comparison === "below" || limit.comparison === "at-most";
    const estimate = isCeiling ? { ...near, low: far.low } : { ...near, high: far.high };
    return { limit, state: stateOf(limit, estimate), estimate };
  });
}

/** Combines limits: broken when one is, kept when all are. */
export function combineStates(states: readonly LimitState[]): LimitState {
  if (states.includes("broken")) return "broken";
  return states.every((state) => state === "kept") ? "kept" : "unresolved";
}

function stateOf({ comparison, limit }: AssertionPlan, { value, low, high }: MetricEstimate): LimitState {
  const [least, most] = [low ?? Number.NEGATIVE_INFINITY, high ?? Number.POSITIVE_INFINITY];
  switch (comparison) {
    case "below":
      return between(most < limit, least >= limit);
    case "at-most":
      return between(most <= limit, least > limit);
    case "above":
      return between(least > limit, most <= limit);
    case "at-least":
      return between(least >= limit, most < limit);
    case "is":
      // An interval is never one number.
      return value === limit ? "kept" : "broken";
  }
}

function between(isKept: boolean, isBroken: boolean): LimitState {
  if (isKept) return "kept";
  return isBroken ? "broken" : "unresolved";
}
