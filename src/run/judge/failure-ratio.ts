/** Whether too large a share of requests has failed, before all of them have ended. */

/** How unlikely more failures must be under the allowed share, before a run of unknown length ends for them. */
const MAX_CHANCE = 1e-9;
const NEEDED_EVIDENCE = -Math.log(MAX_CHANCE);
/** Below this many answers nothing is certain where the number of requests is not known. */
const MIN_ENDED = 20;

/** What is known of the requests of a run. */
export interface FailureShare {
  /** Share of failed requests that is allowed, 0 to 1. */
  readonly maxRatio: number;
  readonly completedCount: number;
  readonly failedCount: number;
  /** Requests that will have ended at most; infinite where time decides. */
  readonly totalCount: number;
}

/**
 * Whether the share of failed requests is certain to end above the limit. Where the number of requests is known, no number of successes
 * can mend it. Elsewhere the failures so far would come about with a chance below 1e-9 if the share were at the limit (the Chernoff bound
 * of the binomial distribution).
 */
export function isRatioExceeded({ maxRatio, completedCount, failedCount, totalCount }: FailureShare): boolean {
  if (Number.isFinite(totalCount)) return failedCount > maxRatio * totalCount;
  const endedCount = completedCount + failedCount;
  const ratio = failedCount / endedCount;
  if (endedCount < MIN_ENDED || ratio <= maxRatio) return false;
  return endedCount * divergence(ratio, maxRatio) >= NEEDED_EVIDENCE;
}

/** The Kullback-Leibler divergence of two shares, in nats. */
function divergence(ratio: number, expected: number): number {
  const succeeded = ratio === 1 ? 0 : (1 - ratio) * Math.log((1 - ratio) / (1 - expected));
  return ratio * Math.log(ratio / expected) + succeeded;
}
