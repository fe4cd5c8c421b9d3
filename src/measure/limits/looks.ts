import { shareAbove } from "../verdict-state.ts";

/**
 * Plans the times at which limits are judged while a level is measured, and the error of each. Judging repeatedly finds an
 * interval that happens to be on one side of the limit far more often than judging once. So the error is spent in parts, by the
 * measured time (Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70, 1983). The sum of the parts
 * bounds the error of all looks together, whatever their correlation.
 */

/** Probability of finding a limit on the wrong side, for each side, over all looks together. */
export const LIMIT_ERROR = 0.025;
/** Number of windows before the first look: a single one does not show how windows vary. */
const LEAST_WINDOWS = 2;
/** Ratio of the times of consecutive looks, about: with few looks, each gets more of the error. */
const GROWTH = 1.5;

/**
 * Returns the part of the error that is spent after a part of the longest time: its cube, which is close to the boundaries of
 * O'Brien and Fleming (Kim and DeMets, Biometrika 74, 1987). Early looks get little of it, so that the last ones, which decide
 * levels near their limit, have almost all.
 */
function spentAt(ratio: number): number {
  return ratio ** 3;
}

/** A time at which limits are judged. */
export interface Look {
  readonly windowCount: number;
  /** Probability of a wrong decision at this look, for each side. */
  readonly error: number;
}

/** Returns the looks at a level, in order. @param most windows of the longest measurement; below 2 counts as 2 */
export function planLooks(most: number): Look[] {
  const last = Math.max(LEAST_WINDOWS, Math.floor(most));
  const counts: number[] = [];
  for (let count = last; count > LEAST_WINDOWS; count = Math.min(count - 1, Math.round(count / GROWTH)))
    counts.unshift(count);
  counts.unshift(LEAST_WINDOWS);
  return counts.map((windowCount, index) => ({
    windowCount,
    error: LIMIT_ERROR * (spentAt(windowCount / last) - spentAt((counts[index - 1] ?? 0) / last)),
  }));
}

/**
 * Returns the smallest number of requests that can show within the longest time that a percentile keeps its upper limit.
 * @param most windows of the longest measurement
 */
export function requestsToKeep(percentile: number, most: number): number {
  const { error = LIMIT_ERROR } = planLooks(most).at(-1) ?? {};
  return Math.ceil(Math.log(error) / Math.log(1 - shareAbove(percentile)));
}

/**
 * Returns the error of a look if the number of looks is unknown: a part that becomes smaller with each look, so that the sum of
 * all is {@link LIMIT_ERROR}.
 * @param look from 1
 */
export function errorOfLook(look: number): number {
  return LIMIT_ERROR / (look * (look + 1));
}
