/**
 * How a load is divided among senders, in closed form: sender `i` of `n` owns what is `i` modulo `n`, so that no sender needs to know what
 * the others do.
 */

/** What a sender owns of a whole. */
export interface Share {
  /** Number of the sender, from 0. */
  readonly index: number;
  /** Number of senders. */
  readonly count: number;
}

/** The share of the only sender. */
export const WHOLE: Share = { index: 0, count: 1 };

/** Returns how many of `total` things a sender owns; infinitely many of infinitely many. */
export function countOf(total: number, { index, count }: Share): number {
  if (index >= count) return 0;
  return total === Number.POSITIVE_INFINITY ? total : Math.max(0, Math.ceil((total - index) / count));
}

/** Returns the number in the whole of a sender's thing. @param turn its number among the sender's, from 0 */
export function numberOf(turn: number, { index, count }: Share): number {
  return turn * count + index;
}
