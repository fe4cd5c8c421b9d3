/** What decides whether a reported number is certain: for columns, notes, JSON, searches and comparisons. */

/** The ends of a confidence interval, in any unit; null where the sample has no bound on that side. */
export interface Interval {
  readonly low: number | null;
  readonly high: number | null;
}

/** Nothing is known. */
export const UNKNOWN: Interval = { low: null, high: null };

/** Converts an interval to another unit. */
export function scaleInterval({ low, high }: Interval, scale: (value: number) => number): Interval {
  return { low: low === null ? null : scale(low), high: high === null ? null : scale(high) };
}

/** A number with its interval. */
export interface Uncertain extends Interval {
  readonly value: number;
  /** Number of independent samples behind it, and how many it needs. Absent: the interval says it all. */
  readonly effectiveCount?: number;
  readonly neededEffectiveCount?: number;
  /** Whether it misses what was not sent while nothing completed. Default: false */
  readonly isBlind?: boolean;
  /** Whether it is a ratio from 0 to 1, whose interval is judged as a difference and not as a factor. Default: false */
  readonly isRatio?: boolean;
}

/**
 * Why a number is uncertain.
 *
 * - `gap`: nothing completed for so much of the time that requests which were not sent then would have changed it
 * - `few-samples`: it has fewer independent samples than it needs
 * - `no-bound`: its interval lacks an end
 * - `wide`: its interval is too wide to say anything: see {@link isInformative}
 */
type Doubt = "gap" | "few-samples" | "no-bound" | "wide";

/** Whether a number is certain. Only a certain one has an interval to show, so that a report never shows an interval and a mark together. */
type Certainty =
  | { readonly isCertain: true; readonly low: number; readonly high: number }
  | { readonly isCertain: false; readonly doubt: Doubt };

/** An interval that reaches beyond this multiple of its value, or below the value divided by it, says nothing. */
export const WIDEST_FACTOR = 2;
/** An interval of a ratio that is wider than this says nothing. */
const WIDEST_RATIO = 0.5;

/**
 * Reports whether an interval says something about its value: it has both ends, and neither is further from the value than by a factor of 2.
 * Values that are 0 or negative have no such scale: there both ends are enough. Of a ratio the interval must not be wider than 0.5.
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

/** Returns the ends of the interval of a certain number; both null otherwise. */
export function certainEnds(estimate: Uncertain): Interval {
  const found = certaintyOf(estimate);
  return found.isCertain ? { low: found.low, high: found.high } : UNKNOWN;
}
