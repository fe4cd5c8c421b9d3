import type { AssertionPlan } from "../../plan/assertions.ts";
import { certaintyOf, WIDEST_FACTOR } from "../intervals/certainty.ts";
import { binomialAtMost } from "../intervals/distributions.ts";
import type { MeasuredPart } from "../metrics/metric.ts";
import { estimateMetric, type MetricEstimate, sampleOf } from "../metrics/read-metric.ts";
import { deviationOf, effectiveCountOf } from "../sketch.ts";
import { isUpperLimit, judgeInterval, type SampleAbove, shareAbove } from "../verdict-state.ts";
import { LIMIT_ERROR } from "./looks.ts";

/**
 * State of a limit at a level.
 *
 * - `kept`: the whole confidence interval is within the limit; for a percentile, the share of requests on the wrong side of it
 *   is certainly small enough
 * - `broken`: the whole interval is beyond it; for a percentile, that share is certainly too large
 * - `unresolved`: neither, or there is no value
 */
export type LimitState = "kept" | "broken" | "unresolved";

/** Result of a limit at one level. */
export interface LimitVerdict {
  readonly limit: AssertionPlan;
  readonly state: LimitState;
  /** Absent without a value. */
  readonly estimate?: MetricEstimate;
  /** Ratio of requests above the limit of a percentile, 0 to 1. Absent for other limits. */
  readonly aboveRatio?: number;
}

/**
 * Judges the limits at a level. One broken limit breaks the level, so each gets an equal part of that error. The level is kept
 * only if all limits are, so there each has the whole error.
 * @param batchSize inferences per request
 * @param error probability of a wrong decision, for each side. Default: the error of judging once
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
    const found = [error, error / limits.length].map((missed) => requestsAbove(limit, level, 1 - 2 * missed));
    const [toKeep, toBreak] = found;
    if (toKeep === undefined || toBreak === undefined) {
      const isBroken = isFarAbove(limit, level, error / limits.length);
      return { limit, state: isBroken ? "broken" : stateOf(limit, estimate), estimate };
    }
    const worth = Math.min(toKeep.effectiveCount, worthNear(limit, level, near, error) ?? toKeep.count);
    const isKept = isShareKept(limit, { ...toKeep, effectiveCount: worth }, error);
    const isBroken = isShareBroken(limit, toBreak, error / limits.length);
    const aboveRatio = toKeep.aboveCount / toKeep.count;
    return { limit, state: isKept ? "kept" : isBroken ? "broken" : "unresolved", estimate, aboveRatio };
  });
}

/**
 * Returns an upper bound on the effective sample size of a sample that should show that a limit is kept; undefined: unknown. A
 * queue delays many requests in a row, and a short measurement may lie between two such times: if few or no requests are above
 * the limit, they do not show how strongly requests depend on each other. Near the limit the mean shows it, because all
 * requests count there. A limit that is far away is not affected by changes of the mean, but the percentile shows it. If the
 * limit is {@link FAR_DEVIATIONS} away from the mean, all requests count: a drift of the percentile that stays so small cannot
 * reach it.
 */
function worthNear(
  { metric, limit }: AssertionPlan,
  level: MeasuredPart,
  estimate: MetricEstimate,
  error: number,
): number | undefined {
  const isFar = limit > WIDEST_FACTOR * estimate.value || limit * WIDEST_FACTOR < estimate.value;
  const sketch = sampleOf(metric, level)?.sketch;
  if (sketch === undefined) return estimate.effectiveCount;
  if (!isFar) return effectiveCountOf(sketch, 1 - 2 * error);
  const allowed = shareAbove(metric.statistic as number);
  const deviations = Math.max(FAR_DEVIATIONS, CHEBYSHEV_MARGIN / Math.sqrt(Math.min(allowed, 1 - allowed)));
  const reach = deviations * (deviationOf(sketch) ?? Number.POSITIVE_INFINITY);
  return Math.abs(limit - sketch.mean) > reach ? undefined : estimate.effectiveCount;
}

/**
 * Distance from the mean, in standard deviations of the requests. For any distribution, at most 1 of 400 is further away
 * (Chebyshev's inequality). Higher percentiles need a larger distance: at most a quarter of what the percentile allows may be
 * further away.
 */
const FAR_DEVIATIONS = 20;
const CHEBYSHEV_MARGIN = 2;

/** Combines limits: broken if one is broken, kept if all are kept. */
export function combineStates(states: readonly LimitState[]): LimitState {
  if (states.includes("broken")) return "broken";
  return states.every((state) => state === "kept") ? "kept" : "unresolved";
}

/** The median is above this multiple of the limit: see {@link isFarAbove}. */
const FAR_FACTOR = 2;

/**
 * Reports whether a mean certainly breaks its upper limit because certainly more than half of the values are above twice the
 * limit (Markov's inequality). Like the share above a percentile, this does not need stable latencies: on an overloaded server
 * they do not converge to a mean.
 */
function isFarAbove({ metric, comparison, limit }: AssertionPlan, level: MeasuredPart, error: number): boolean {
  if (metric.statistic !== "mean" || !isUpperLimit(comparison)) return false;
  const above = sampleOf(metric, level)?.above?.(FAR_FACTOR * limit, false, 1 - 2 * error);
  return above !== undefined && isShareMore(above, 1 / FAR_FACTOR, error);
}

/**
 * Returns the state of a limit. An interval is never a single number, so an assertion on equality is judged by the value. A
 * percentile needs the samples that make it certain.
 */
function stateOf(limit: AssertionPlan, estimate: MetricEstimate): LimitState {
  const certainty = certaintyOf(estimate);
  const lacksSamples = !certainty.isCertain && ["few-samples", "gap"].includes(certainty.doubt);
  const state = judgeInterval(limit, estimate);
  if (state === "fail") return "broken";
  return state === "pass" && !lacksSamples ? "kept" : "unresolved";
}

/**
 * Returns the requests above the limit of a percentile; undefined for other limits, without requests, and if single values are
 * not kept.
 * @param confidence of the decision, for which the effective sample size is computed
 */
export function requestsAbove(
  { metric, comparison, limit }: AssertionPlan,
  part: MeasuredPart,
  confidence: number,
): SampleAbove | undefined {
  if (comparison === "is" || typeof metric.statistic !== "number") return undefined;
  const isAtLeast = comparison === "below" || comparison === "at-least";
  return sampleOf(metric, part)?.above?.(limit, isAtLeast, confidence);
}

/**
 * Reports whether the share of requests above the limit of a percentile certainly keeps it: p99 is below a limit if at most 1 %
 * of the requests are above it. The exact binomial test of that share decides (Clopper and Pearson, Biometrika 26, 1934).
 * Unlike the interval of the percentile, it does not need stable latencies: if all requests are above the limit, it does not
 * matter that they become slower and slower.
 * @param error probability of a wrong report, if the share is exactly the one that the percentile allows
 */
export function isShareKept({ metric, comparison }: AssertionPlan, above: SampleAbove, error: number): boolean {
  const allowed = shareAbove(metric.statistic as number);
  return isUpperLimit(comparison) ? isShareLess(above, allowed, error) : isShareMore(above, allowed, error);
}

/** Reports whether the share certainly breaks the limit. @param error as for {@link isShareKept} */
export function isShareBroken({ metric, comparison }: AssertionPlan, above: SampleAbove, error: number): boolean {
  const allowed = shareAbove(metric.statistic as number);
  return isUpperLimit(comparison) ? isShareMore(above, allowed, error) : isShareLess(above, allowed, error);
}

function isShareLess({ count, aboveCount, effectiveCount }: SampleAbove, share: number, error: number): boolean {
  return binomialAtMost((aboveCount / count) * effectiveCount, effectiveCount, share) <= error;
}

function isShareMore({ count, aboveCount, effectiveCount }: SampleAbove, share: number, error: number): boolean {
  return binomialAtMost((1 - aboveCount / count) * effectiveCount, effectiveCount, 1 - share) <= error;
}
