import { countOf, formatCount, plural } from "../../plan/units.ts";
import { binomialAtMost } from "../intervals/distributions.ts";
import { leastAbove } from "../intervals/least-above.ts";

/**
 * Early stopping as in MLPerf's LoadGen (https://arxiv.org/abs/2103.12433 and early_stopping.cc): the number of queries needed
 * to say with 99 % confidence that a percentile of latency is within a limit, by the number of queries over it.
 */

const CONFIDENCE = 0.99;

/**
 * Returns the lowest number of queries within the limit that certifies the percentile.
 * @param overCount number of queries over the limit
 * @param ratio the percentile, above 0 and below 1
 */
export function leastWithin(overCount: number, ratio: number): number {
  const isCertain = (within: number): boolean =>
    binomialAtMost(overCount, within + overCount, 1 - ratio) < 1 - CONFIDENCE;
  // At this number, the probability that the limit is kept is about one half.
  let low = Math.floor((overCount * ratio) / (1 - ratio));
  let high = low + 1;
  while (!isCertain(high)) {
    low = high;
    high += high - Math.floor((overCount * ratio) / (1 - ratio));
  }
  return leastAbove(low, high, isCertain);
}

/** Returns the lowest number of queries from which a percentile can be estimated with certainty. @param ratio above 0 and below 1 */
export function leastQueries(ratio: number): number {
  return leastWithin(1, ratio) + 1;
}

/** A conservative estimate of a percentile: with 99 % confidence, it is too high. */
export interface StoppingEstimate {
  /** Number of highest latencies above the estimate. */
  readonly discardedCount: number;
  readonly latencyNs: number;
}

/**
 * Returns the highest latency that early stopping does not discard.
 * @param sorted latencies in ascending order
 * @param ratio the percentile, above 0 and below 1
 * @returns undefined below {@link leastQueries}
 */
export function estimateByEarlyStopping(sorted: Float64Array, ratio: number): StoppingEstimate | undefined {
  const count = sorted.length;
  if (count < leastQueries(ratio)) return undefined;
  const most = leastAbove(1, count, (overCount) => leastWithin(overCount, ratio) + overCount > count) - 1;
  return { discardedCount: most - 1, latencyNs: sorted[count - most] as number };
}

/** Early stopping for a scenario with a limit. */
export interface LimitedStop {
  readonly isMet: boolean;
  /** Number of queries over the limit, including queries without a value. */
  readonly overCount: number;
  /** Number of additional queries, all within the limit, that would make the run valid; 0 if early stopping is met. */
  readonly missingCount: number;
}

/**
 * Decides whether a percentile is certainly within a limit.
 * @param lackingCount number of queries without a value, which count as over the limit
 * @param ratio the percentile, above 0 and below 1
 */
export function limitedStop(sorted: Float64Array, lackingCount: number, ratio: number, limitNs: number): LimitedStop {
  const overCount = lackingCount + sorted.reduce((count, valueNs) => (valueNs > limitNs ? count + 1 : count), 0);
  const missingCount = Math.max(0, leastWithin(overCount, ratio) + overCount - sorted.length - lackingCount);
  return { isMet: missingCount === 0, overCount, missingCount };
}

/** Explains why early stopping is not met, without a full stop. @param what the limited percentile */
export function explainLimited(what: string, { overCount, missingCount }: LimitedStop, queryCount: number): string {
  const over = `${formatCount(overCount)} of ${countOf(queryCount, "query", "queries")} ${plural(overCount, "was", "were")} over the limit`;
  return `early stopping is not met for ${what}: ${over}, and ${formatCount(missingCount)} more within it ${plural(missingCount, "is", "are")} needed`;
}
