/**
 * Division of a load among senders, in closed form: sender `i` of `n` has the items whose number is `i` modulo `n`, so that senders need
 * no knowledge of each other.
 */

/** A sender's share of a load. */
export interface Share {
  /** Number of the sender, from 0. */
  readonly index: number;
  /** Number of senders. */
  readonly count: number;
}

/** The share of the only sender. */
export const WHOLE: Share = { index: 0, count: 1 };

/** Returns a sender's number of `total` items; Infinity if `total` is infinite. */
export function countOf(total: number, { index, count }: Share): number {
  if (index >= count) return 0;
  return total === Number.POSITIVE_INFINITY ? total : Math.max(0, Math.ceil((total - index) / count));
}

/** Returns the number of a sender's item among all items. @param turn number of the item among the sender's items, from 0 */
export function numberOf(turn: number, { index, count }: Share): number {
  return turn * count + index;
}
