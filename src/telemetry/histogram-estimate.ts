/** Percentiles of a Prometheus histogram, which has only counts of buckets: estimates by linear interpolation within a bucket. */

/** A bucket: requests at or below a bound that are above the bound before. */
export interface HistogramBucket {
  /** Infinity for the last one. */
  readonly upperBound: number;
  readonly count: number;
}

/**
 * The value below which a share of the observations lies, as Prometheus' `histogram_quantile` estimates it: evenly spread within a bucket, the
 * first one beginning at 0. Beyond the last finite bound nothing is known: the estimate is that bound then.
 * @param buckets by ascending bound
 * @param ratio 0 to 1
 * @returns NaN without observations
 */
export function estimateQuantile(buckets: readonly HistogramBucket[], ratio: number): number {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return Number.NaN;
  const rank = ratio * total;
  let below = 0;
  let lower = Number.NEGATIVE_INFINITY;
  for (const { upperBound, count } of buckets) {
    if (count > 0 && below + count >= rank) {
      if (upperBound === Number.POSITIVE_INFINITY) return lower === Number.NEGATIVE_INFINITY ? Number.NaN : lower;
      const start = lower === Number.NEGATIVE_INFINITY ? Math.min(0, upperBound) : lower;
      return start + (upperBound - start) * ((rank - below) / count);
    }
    below += count;
    lower = upperBound;
  }
  return Number.NaN;
}
