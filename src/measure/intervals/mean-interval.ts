import { deviationOf, effectiveCountOf, type Sketch, skewnessOf } from "../sketch.ts";
import { type Interval, UNKNOWN } from "./certainty.ts";
import { studentQuantile } from "./distributions.ts";
import { INTERVAL_CONFIDENCE, type IntervalOptions } from "./effective-count.ts";

/** A mean, or a percentile, with its confidence interval, in the unit of the sample. A mean needs two independent samples for one. */
export interface MeanEstimate extends Interval {
  readonly value: number;
  /** Number of independent samples that the sample is worth for it: 1 to its size. */
  readonly effectiveCount: number;
}

/**
 * Returns the Student t interval of a mean, with the effective sample size in place of the number of samples, which allows for correlation.
 * With skewness, the interval reaches further to the side of the tail (Hall, On the removal of skewness by transformation, JRSS B 54, 1992).
 * @param deviation of the single samples; undefined below two of them
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
  // Below this the transformation is the identity, and dividing by the skewness would lose digits.
  if (Math.abs(skewness * at) < 1e-6) return at;
  return (3 / skewness) * (Math.cbrt(1 + skewness * (at - skewness / (6 * count))) - 1);
}

/** Cuts an interval of values that cannot be negative at 0. */
export function fromZero<T extends Interval & { readonly value: number }>(estimate: T): T {
  return fromLeast(estimate, 0);
}

/** Cuts an interval at the least value that its number can have, or at the number itself where rounding has made that less. */
export function fromLeast<T extends Interval & { readonly value: number }>(estimate: T, least: number): T {
  const { value, low } = estimate;
  return low !== null && low < Math.min(value, least) ? { ...estimate, low: Math.min(value, least) } : estimate;
}

/** A chance that is left aside: a tenth of what an interval of 95 % leaves. */
const SMALL_CHANCE = 0.005;

/**
 * Returns the least that a percentile can be: the least value, where these many independent ones are hardly all above the percentile; otherwise 0 for
 * values that are not negative. @param percentile above 0 and below 100. Default: that of a mean, about the middle
 */
export function leastOf({ min }: Sketch, effective: number, percentile = 50): number {
  if ((1 - percentile / 100) ** effective < SMALL_CHANCE) return min;
  return min < 0 ? Number.NEGATIVE_INFINITY : 0;
}

/** How the mean of a sample is estimated. */
export interface MeanOptions extends IntervalOptions {
  /** Number of independent values that a sample is worth at least, if it has as many. Default: 1 */
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
