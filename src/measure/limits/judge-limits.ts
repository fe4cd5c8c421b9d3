import type { AssertionPlan } from "../../plan/assertions.ts";
import { certaintyOf } from "../intervals/certainty.ts";
import { regularizedBeta } from "../intervals/distributions.ts";
import type { MeasuredPart } from "../metrics/metric.ts";
import { estimateMetric, type MetricEstimate, sampleOf } from "../metrics/read-metric.ts";
import { isUpperLimit, judgeInterval, type SampleAbove } from "../verdict-state.ts";

/**
 * Whether a limit is kept at a level.
 *
 * - `kept`: the whole confidence interval keeps the limit, and a percentile has the samples that make it certain
 * - `broken`: the whole interval breaks it, or, for a percentile, more requests are above it than chance explains
 * - `unresolved`: neither, or there is no value
 */
export type LimitState = "kept" | "broken" | "unresolved";

/** A limit at one level. */
export interface LimitVerdict {
  readonly limit: AssertionPlan;
  readonly state: LimitState;
  /** Absent without a value. */
  readonly estimate?: MetricEstimate;
  /** Ratio of requests above the limit of a percentile, 0 to 1. Absent for other limits. */
  readonly aboveRatio?: number;
}

/**
 * Judges the limits at a level. One broken limit breaks the level, so each gets a part of the error of that. All must be kept to keep it: there
 * each has the whole error.
 * @param batchSize inferences per request
 * @param error probability of a wrong decision, for each side. Default: that of judging once
 */
export function judgeLimits(
  limits: readonly AssertionPlan[],
  level: MeasuredPart,
  batchSize: number,
  error: number = LIMIT_ERROR,
): LimitVerdict[] {
  return limits.map((limit) => {
    const [near, far] = [error, error / limits.length].map((missed) =>
      estimateMetric(limit.metric, level, batchSize, 1 - 2 * missed),
    );
    if (near === undefined || far === undefined) return { limit, state: "unresolved" };
    const estimate = isUpperLimit(limit.comparison) ? { ...near, low: far.low } : { ...near, high: far.high };
    const above = requestsAbove(limit, level, 1 - (2 * error) / limits.length);
    const certainty = certaintyOf(estimate);
    const isFew = !certainty.isCertain && certainty.doubt === "few-samples";
    const byInterval = stateOf(limit, estimate);
    const state = isFew && byInterval === "kept" ? "unresolved" : byInterval;
    if (above === undefined) return { limit, state, estimate };
    const isBroken = isTooMany(above, allowedAbove(limit), error / limits.length);
    const aboveRatio = above.aboveCount / above.count;
    return { limit, state: between(state === "kept", isBroken), estimate, aboveRatio };
  });
}

/** Returns the share of requests that may be above the limit of a percentile. */
function allowedAbove({ metric }: AssertionPlan): number {
  return typeof metric.statistic === "number" ? 1 - metric.statistic / 100 : 0;
}

/** Combines limits: broken when one is, kept when all are. */
export function combineStates(states: readonly LimitState[]): LimitState {
  if (states.includes("broken")) return "broken";
  return states.every((state) => state === "kept") ? "kept" : "unresolved";
}

/** An interval is never one number, so what is to be a number is judged by its value. */
function stateOf(limit: AssertionPlan, estimate: MetricEstimate): LimitState {
  return ({ pass: "kept", fail: "broken", unresolved: "unresolved" } as const)[judgeInterval(limit, estimate)];
}

function between(isKept: boolean, isBroken: boolean): LimitState {
  if (isKept) return "kept";
  return isBroken ? "broken" : "unresolved";
}

/**
 * Returns the requests above the upper limit of a percentile; undefined for other limits, and without requests.
 * @param confidence for which the effective sample size is needed
 */
export function requestsAbove(
  { metric, comparison, limit }: AssertionPlan,
  part: MeasuredPart,
  confidence: number,
): SampleAbove | undefined {
  if (!isUpperLimit(comparison) || typeof metric.statistic !== "number") return undefined;
  return sampleOf(metric, part)?.above?.(limit, comparison === "below", confidence);
}

/**
 * Reports whether more requests are above the limit of a percentile than chance explains. Unlike the interval of the percentile this needs no
 * steady latencies: when all requests are above the limit, it does not matter that they become slower and slower.
 * @param allowed share that may be above, 0 to 1
 * @param error probability that this is reported when no more than `allowed` are
 */
export function isTooMany({ count, aboveCount, effectiveCount }: SampleAbove, allowed: number, error: number): boolean {
  const ratio = aboveCount / count;
  const hits = ratio * effectiveCount;
  // The probability of as many or more.
  return ratio > allowed && regularizedBeta(allowed, hits, effectiveCount - hits + 1) <= error;
}

/**
 * When limits are judged while a level is measured, and how much error each judgement may have. Judging again and again finds an interval that
 * happens to lie on one side of the limit far more often than judging once. So the error is spent in parts: each look gets the part that its
 * measured time is of the longest one (Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70, 1983). The sum of the
 * parts bounds the error of all looks together, whatever they have in common.
 */

/** Probability that a limit is found on the wrong side, for each side, over all looks together. */
export const LIMIT_ERROR = 0.025;
/** Windows before the first look: one alone says nothing about how windows vary. */
const LEAST_WINDOWS = 2;
/** Each look is after about this many times the time of the one before: few looks leave more error for each. */
const GROWTH = 1.5;

/** A moment at which limits are judged. */
interface Look {
  /** Number of windows measured. */
  readonly windowCount: number;
  /** Probability that the limits are wrongly decided at this look, for each side. */
  readonly error: number;
}

/** Returns the looks at a level, in their order. @param most windows of the longest measurement; below 2 counts as 2 */
export function planLooks(most: number): Look[] {
  const last = Math.max(LEAST_WINDOWS, Math.floor(most));
  const counts: number[] = [];
  for (let count = last; count > LEAST_WINDOWS; count = Math.min(count - 1, Math.round(count / GROWTH)))
    counts.unshift(count);
  counts.unshift(LEAST_WINDOWS);
  return counts.map((windowCount, index) => ({
    windowCount,
    error: (LIMIT_ERROR * (windowCount - (counts[index - 1] ?? 0))) / last,
  }));
}

/**
 * Returns the error of a look when their number is not known before: a part of it that becomes smaller with each look, so that the sum of all
 * is {@link LIMIT_ERROR}.
 * @param look from 1
 */
export function errorOfLook(look: number): number {
  return LIMIT_ERROR / (look * (look + 1));
}
