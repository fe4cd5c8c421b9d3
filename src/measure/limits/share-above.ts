import type { AssertionPlan } from "../../plan/assertions.ts";
import { regularizedBeta } from "../intervals/distributions.ts";
import { batchMeansOf, effectiveCount } from "../intervals/effective-count.ts";
import { tokenSampleOf } from "../tokens/token-verdicts.ts";
import type { JudgedLevel } from "../verdicts.ts";

/** The requests above a limit. */
export interface ShareAbove {
  /** 0 to 1. */
  readonly ratio: number;
  /** Number of independent requests that these are worth for the ratio. */
  readonly effectiveCount: number;
}

/**
 * Returns the share of requests above the limit of a percentile; undefined for other limits, and without requests.
 * @param confidence for which the effective sample size is needed
 */
export function shareAbove(
  { metric, comparison, limit }: AssertionPlan,
  { window, tokens }: JudgedLevel,
  confidence: number,
): ShareAbove | undefined {
  if (comparison !== "below" && comparison !== "at-most") return undefined;
  if (metric.kind === "latency-percentile") {
    const tally = window[metric.of];
    return tally.count === 0 ? undefined : tally.above(limit, confidence);
  }
  if (metric.kind !== "token-percentile" || tokens === undefined) return undefined;
  const isAbove = tokenSampleOf(metric.of, tokens).map((value) => (value > limit ? 1 : 0));
  if (isAbove.length === 0) return undefined;
  const ratio = isAbove.reduce((sum, one) => sum + one, 0) / isAbove.length;
  const variance = ratio * (1 - ratio);
  return { ratio, effectiveCount: effectiveCount(isAbove.length, variance, batchMeansOf(isAbove), confidence) };
}

/**
 * Reports whether more requests are above the limit of a percentile than chance explains. Unlike the interval of the percentile this needs no
 * steady latencies: when all requests are above the limit, it does not matter that they become slower and slower.
 * @param allowed share that may be above, 0 to 1
 * @param error probability that this is reported when no more than `allowed` are
 */
export function isTooMany({ ratio, effectiveCount: count }: ShareAbove, allowed: number, error: number): boolean {
  const hits = ratio * count;
  // The probability of as many or more.
  return ratio > allowed && regularizedBeta(allowed, hits, count - hits + 1) <= error;
}
