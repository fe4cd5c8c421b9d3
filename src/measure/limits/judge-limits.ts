import type { AssertionPlan } from "../../plan/assertions.ts";
import { certaintyOf } from "../intervals/certainty.ts";
import { regularizedBeta } from "../intervals/distributions.ts";
import type { MeasuredPart } from "../metrics/metric.ts";
import { estimateMetric, type MetricEstimate, sampleOf } from "../metrics/read-metric.ts";
import { isUpperLimit, judgeInterval, type SampleAbove } from "../verdict-state.ts";
import { LIMIT_ERROR } from "./looks.ts";

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
