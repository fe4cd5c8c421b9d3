/** A histogram bucket: the number of observations above the previous bound and up to this one. */
export interface HistogramBucket {
  /** Upper bound; Infinity for the last bucket. */
  readonly upperBound: number;
  readonly count: number;
}

/**
 * Estimates a quantile from a histogram like Prometheus' `histogram_quantile`: linear interpolation within a bucket, starting at 0 in the
 * first one. Above the last finite bound, the estimate is that bound.
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
