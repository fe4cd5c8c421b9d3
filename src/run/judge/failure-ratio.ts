/** Maximum probability of the observed failures under the allowed ratio, for ending a run of unknown length. */
const MAX_CHANCE = 1e-9;
const NEEDED_EVIDENCE = -Math.log(MAX_CHANCE);
/** Minimum number of ended requests for a decision when the total is unknown. */
const MIN_ENDED = 20;

/** The requests of a run so far. */
export interface FailureShare {
  /** Allowed ratio of failed requests, 0 to 1. */
  readonly maxRatio: number;
  readonly completedCount: number;
  readonly failedCount: number;
  /** Maximum number of requests; infinite when time decides. */
  readonly totalCount: number;
}

/**
 * Whether the ratio of failed requests is certain to end above the limit. With a known total, no number of later successes can prevent it.
 * Otherwise, the observed failures would have a probability below 1e-9 if the true ratio were at the limit (Chernoff bound of the binomial
 * distribution).
 */
export function isRatioExceeded({ maxRatio, completedCount, failedCount, totalCount }: FailureShare): boolean {
  if (Number.isFinite(totalCount)) return failedCount > maxRatio * totalCount;
  const endedCount = completedCount + failedCount;
  const ratio = failedCount / endedCount;
  if (endedCount < MIN_ENDED || ratio <= maxRatio) return false;
  return endedCount * divergence(ratio, maxRatio) >= NEEDED_EVIDENCE;
}

/** Returns the Kullback-Leibler divergence of two ratios, in nats. */
function divergence(ratio: number, expected: number): number {
  const succeeded = ratio === 1 ? 0 : (1 - ratio) * Math.log((1 - ratio) / (1 - expected));
  return ratio * Math.log(ratio / expected) + succeeded;
}
