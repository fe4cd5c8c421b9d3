import { normalQuantile, studentQuantile } from "./distributions.ts";

/** Estimates how many independent samples a sequence of correlated samples is worth. */

/** Confidence of intervals: 95 %. */
export const INTERVAL_CONFIDENCE = 0.95;

export interface IntervalOptions {
  /** Above 0 and below 1. Default: {@link INTERVAL_CONFIDENCE} */
  readonly confidence?: number;
}

/** Means of consecutive batches, in the order of the samples. */
export interface BatchMeans {
  readonly means: ArrayLike<number>;
  /** Number of samples in each batch; need not be whole. */
  readonly batchCount: number;
}

/**
 * Returns the effective sample size for a mean: the number of independent samples whose mean varies as much.
 *
 * The variance of the mean comes from means of consecutive batches (Law and Kelton, Simulation Modeling and Analysis: batch
 * means), and the remaining correlation between batches from the autocovariances at the lags of Geyer's initial positive
 * sequence (Practical Markov chain Monte Carlo, Statistical Science 7, 1992). With batches of one sample it is n divided by the
 * integrated autocorrelation time. The estimate varies by about a fifth, with independent samples too.
 *
 * @param count number of samples
 * @param variance of the single samples
 * @param confidence of the interval that uses the result. If batches correlate, their variance is itself uncertain, which
 *   matters more for a higher confidence. Default: 0.95
 * @returns 1 to `count`; `count` if there is no variation or the order is unknown
 */
export function effectiveCount(
  count: number,
  variance: number,
  { means, batchCount }: BatchMeans,
  confidence: number = INTERVAL_CONFIDENCE,
): number {
  if (means.length < 2 || !(variance > 0)) return count;
  const isRough = batchCount > 1 && means.length < FEW_BATCHES;
  const longRunVariance = batchCount * sumOfCovariances(means, confidence, isRough);
  return Math.max(1, Math.min(count, (count * variance) / longRunVariance));
}

/** The variance of fewer batches is itself uncertain; with single samples, Student's t of their number allows for that. */
const FEW_BATCHES = 32;

/**
 * Returns the sum of the autocovariances at all lags, including negative ones: pairs of lags count until a pair's sum is not
 * positive.
 * @param isRough whether there are so few values that the sum is uncertain even without correlation
 */
function sumOfCovariances(values: ArrayLike<number>, confidence: number, isRough: boolean): number {
  const count = values.length;
  let mean = 0;
  for (let at = 0; at < count; at++) mean += (values[at] as number) / count;
  const covariance = (lag: number): number => {
    let sum = 0;
    for (let at = lag; at < count; at++) sum += ((values[at] as number) - mean) * ((values[at - lag] as number) - mean);
    return sum / count;
  };
  const variance = covariance(0);
  let pairs = 0;
  let lags = 0;
  for (let lag = 0; lag + 1 < count; lag += 2) {
    const pair = (lag === 0 ? variance : covariance(lag)) + covariance(lag + 1);
    if (pair <= 0) break;
    pairs += pair;
    lags = lag + 2;
  }
  // Divided by n - 1 instead of n, like a sample variance. Negative covariances must not make the sum 0 or less.
  const sum = Math.max((2 * pairs - variance) * (count / (count - 1)), TINY_VARIANCE);
  return isRough || sum > CORRELATED_RATIO * variance ? sum * allowanceFor(count, 2 * lags - 1, confidence) : sum;
}

/** Above this ratio of the sum of autocovariances to the variance, the correlation between batches is not due to chance. */
const CORRELATED_RATIO = 1.2;

/**
 * Returns the factor by which the sum of autocovariances must be enlarged, because it is itself an estimate. Its lags up to
 * `width` have about `count / width` degrees of freedom, one of which is used for the mean (Priestley, Spectral Analysis and
 * Time Series, 6.2): that lowers the sum by `width / count`, and requires Student's t instead of the normal quantile.
 */
function allowanceFor(count: number, width: number, confidence: number): number {
  const freedom = Math.max(1, count / width - 1);
  const probability = (1 + confidence) / 2;
  const widening = studentQuantile(probability, freedom) / normalQuantile(probability);
  return (widening ** 2 * (freedom + 1)) / freedom;
}

const TINY_VARIANCE = Number.MIN_VALUE;
