import { deviationOf, effectiveCountOf, type Sketch, skewnessOf } from "../sketch.ts";
import { type Interval, UNKNOWN } from "./certainty.ts";
import { studentQuantile } from "./distributions.ts";
import { INTERVAL_CONFIDENCE, type IntervalOptions } from "./effective-count.ts";

/**
 * A mean, or a percentile, with its confidence interval, in the unit of the sample. The interval of a mean needs two
 * independent samples.
 */
export interface MeanEstimate extends Interval {
  readonly value: number;
  /** Effective sample size for the estimate: 1 to the size of the sample. */
  readonly effectiveCount: number;
}

/**
 * Returns the Student t interval of a mean, with the effective sample size, which allows for correlation, instead of the number
 * of samples. With skewness, the interval reaches further to the side of the tail (Hall, On the removal of skewness by
 * transformation, JRSS B 54, 1992).
 * @param deviation of the single samples; undefined for fewer than two
 * @param skewness of the single samples. Default: 0, a symmetric interval
 */
export function meanInterval(
  value: number,
  deviation: number | undefined,
  effective: number,
  { confidence = INTERVAL_CONFIDENCE, skewness = 0 }: IntervalOptions & { readonly skewness?: number } = {},
): MeanEstimate {
  if (deviation === undefined || effective < 2) return { value, ...UNKNOWN, effectiveCount: effective };
  const half = studentQuantile((1 + confidence) / 2, effective - 1) / Math.sqrt(effective);
  const [low, high] = [half, -half].map((at) => value - deviation * unskew(at, skewness, effective));
  return { value, low: low as number, high: high as number, effectiveCount: effective };
}

/** Inverts Hall's cubic transformation, which makes the mean of skewed samples symmetric. */
function unskew(at: number, skewness: number, count: number): number {
  // Below this the transformation is the identity, and dividing by the skewness would lose precision.
  if (Math.abs(skewness * at) < 1e-6) return at;
  return (3 / skewness) * (Math.cbrt(1 + skewness * (at - skewness / (6 * count))) - 1);
}

/** Cuts an interval of values that cannot be negative at 0. */
export function fromZero<T extends Interval & { readonly value: number }>(estimate: T): T {
  return fromLeast(estimate, 0);
}

/** Cuts an interval at the least value that its number can have, or at the number itself if rounding made it smaller. */
export function fromLeast<T extends Interval & { readonly value: number }>(estimate: T, least: number): T {
  const { value, low } = estimate;
  return low !== null && low < Math.min(value, least) ? { ...estimate, low: Math.min(value, least) } : estimate;
}

/** A negligible probability: a tenth of the error of a 95 % interval. */
const SMALL_CHANCE = 0.005;

/**
 * Returns the least value that a percentile can have: the smallest sample, if it is improbable that this many independent
 * samples are all above the percentile; otherwise 0, for values that are not negative. @param percentile above 0 and below 100.
 * Default: 50, about the middle, for a mean
 */
export function leastOf({ min }: Sketch, effective: number, percentile = 50): number {
  if ((1 - percentile / 100) ** effective < SMALL_CHANCE) return min;
  return min < 0 ? Number.NEGATIVE_INFINITY : 0;
}

export interface MeanOptions extends IntervalOptions {
  /** Minimum effective sample size, if the sample is that large. Default: 1 */
  readonly leastCount?: number;
}

/** Estimates the mean of values that are not negative, in their unit. */
export function estimateMeanNs(
  sketch: Sketch,
  { confidence = INTERVAL_CONFIDENCE, leastCount = 1 }: MeanOptions = {},
): MeanEstimate {
  const least = Math.min(leastCount, sketch.count);
  const effective = effectiveCountOf(sketch, confidence);
  const options = { confidence, ...(effective < least ? {} : { skewness: skewnessOf(sketch) }) };
  const estimate = meanInterval(sketch.mean, deviationOf(sketch), Math.max(effective, least), options);
  return fromLeast(estimate, leastOf(sketch, effective));
}
