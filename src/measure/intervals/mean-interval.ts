import type { LatencyTally } from "../latency-tally.ts";
import { studentQuantile } from "./distributions.ts";
import { batchMeansOf, effectiveCount } from "./effective-count.ts";
import { INTERVAL_CONFIDENCE } from "./percentile-interval.ts";

/** A mean with its confidence interval, in the unit of the sample. */
export interface MeanEstimate {
  readonly value: number;
  /** Ends of the 95 % confidence interval; null below two independent samples. */
  readonly low: number | null;
  readonly high: number | null;
  /** Number of independent samples that the sample is worth for the mean: 1 to its size. */
  readonly effectiveCount: number;
}

/**
 * Returns the Student t interval of a mean, with the effective sample size in place of the number of samples, which allows for correlation.
 * @param deviation of the single samples; undefined below two of them
 */
export function meanInterval(
  value: number,
  deviation: number | undefined,
  effective: number,
  confidence: number = INTERVAL_CONFIDENCE,
): MeanEstimate {
  if (deviation === undefined || effective < 2) return { value, low: null, high: null, effectiveCount: effective };
  const half = (studentQuantile((1 + confidence) / 2, effective - 1) * deviation) / Math.sqrt(effective);
  return { value, low: value - half, high: value + half, effectiveCount: effective };
}

/** Cuts an interval of values that cannot be negative at 0. */
export function fromZero<T extends Pick<MeanEstimate, "low">>(estimate: T): T {
  return estimate.low !== null && estimate.low < 0 ? { ...estimate, low: 0 } : estimate;
}

/** Estimates the mean of a tally, in nanoseconds. */
export function estimateMeanNs(tally: LatencyTally): MeanEstimate {
  return fromZero(meanInterval(tally.meanNs, tally.deviationNs, tally.effectiveCount));
}

/** Estimates the mean of values that are not negative, in the order in which they were measured. @param values not empty */
export function estimateMean(values: ArrayLike<number>): MeanEstimate {
  const count = values.length;
  let mean = 0;
  for (let at = 0; at < count; at++) mean += (values[at] as number) / count;
  let squares = 0;
  for (let at = 0; at < count; at++) squares += ((values[at] as number) - mean) ** 2;
  if (count < 2) return meanInterval(mean, undefined, count);
  const variance = squares / (count - 1);
  return fromZero(meanInterval(mean, Math.sqrt(variance), effectiveCount(count, variance, batchMeansOf(values))));
}
