/** Decides whether a reported number is certain, for columns, notes, JSON, searches and comparisons. */

/** The ends of a confidence interval, in any unit; null if the sample gives no bound on that side. */
export interface Interval {
  readonly low: number | null;
  readonly high: number | null;
}

/** An interval without bounds. */
export const UNKNOWN: Interval = { low: null, high: null };

/** Converts an interval to another unit. */
export function scaleInterval({ low, high }: Interval, scale: (value: number) => number): Interval {
  return { low: low === null ? null : scale(low), high: high === null ? null : scale(high) };
}

export interface Uncertain extends Interval {
  readonly value: number;
  /** Number of independent samples that the number is based on, and the number that it needs. Absent: the interval is sufficient. */
  readonly effectiveCount?: number;
  readonly neededEffectiveCount?: number;
  /** Whether the number lacks requests that were not sent while nothing completed. Default: false */
  readonly isBlind?: boolean;
  /** Whether the number is a ratio from 0 to 1, whose interval is judged by its width and not by a factor. Default: false */
  readonly isRatio?: boolean;
}

/**
 * Reason why a number is uncertain.
 *
 * - `gap`: nothing completed for so much of the time that requests which were not sent then would have changed it
 * - `few-samples`: it has fewer independent samples than it needs
 * - `no-bound`: its interval lacks an end
 * - `wide`: its interval is too wide to be useful: see {@link isInformative}
 */
type Doubt = "gap" | "few-samples" | "no-bound" | "wide";

/**
 * Result of judging a number. Only a certain number has an interval to show, so that a report never shows an interval and a
 * mark together.
 */
type Certainty =
  | { readonly isCertain: true; readonly low: number; readonly high: number }
  | { readonly isCertain: false; readonly doubt: Doubt };

/** An interval that extends beyond this multiple of its value, or below the value divided by it, is not informative. */
export const WIDEST_FACTOR = 2;
/** An interval of a ratio that is wider than this is not informative. */
const WIDEST_RATIO = 0.5;

/**
 * Reports whether an interval is informative: it has both ends, and neither is further from the value than a factor of 2. A
 * value of 0 or less has no such scale: both ends are enough. The interval of a ratio must be at most 0.5 wide.
 */
export function isInformative({ value, low, high, isRatio = false }: Uncertain): boolean {
  if (low === null || high === null) return false;
  if (isRatio) return high - low <= WIDEST_RATIO;
  return value <= 0 || (low * WIDEST_FACTOR >= value && high <= value * WIDEST_FACTOR);
}

/** Decides whether a number is certain. */
export function certaintyOf(estimate: Uncertain): Certainty {
  const { low, high, effectiveCount = Number.POSITIVE_INFINITY, neededEffectiveCount = 0 } = estimate;
  if (estimate.isBlind === true) return { isCertain: false, doubt: "gap" };
  if (effectiveCount < neededEffectiveCount) return { isCertain: false, doubt: "few-samples" };
  if (low === null || high === null) return { isCertain: false, doubt: "no-bound" };
  return isInformative(estimate) ? { isCertain: true, low, high } : { isCertain: false, doubt: "wide" };
}

/** Returns the ends of the interval of a certain number; both ends are null otherwise. */
export function certainEnds(estimate: Uncertain): Interval {
  const found = certaintyOf(estimate);
  return found.isCertain ? { low: found.low, high: found.high } : UNKNOWN;
}
