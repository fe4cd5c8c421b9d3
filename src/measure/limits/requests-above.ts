import type { AssertionPlan } from "../../plan/assertions.ts";
import { regularizedBeta } from "../intervals/distributions.ts";
import type { MeasuredPart } from "../metrics/metric.ts";
import { sampleOf } from "../metrics/read-metric.ts";
import { isUpperLimit, type SampleAbove } from "../verdict-state.ts";

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
