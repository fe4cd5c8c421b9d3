import { binomialAtMost } from "../intervals/distributions.ts";
import { INTERVAL_CONFIDENCE } from "../intervals/percentile-interval.ts";

/** The interval of a ratio, 0 to 1. */
export interface RatioInterval {
  readonly low: number;
  readonly high: number;
}

const STEPS = 60;

/**
 * Returns the exact interval of a ratio by Clopper and Pearson (Biometrika 26, 1934).
 * @param hits 0 to `count`
 * @param count 1 or more
 */
export function ratioInterval(hits: number, count: number, confidence: number = INTERVAL_CONFIDENCE): RatioInterval {
  const missed = (1 - confidence) / 2;
  return {
    low: hits === 0 ? 0 : findRatio((ratio) => 1 - binomialAtMost(hits - 1, count, ratio) < missed),
    high: hits === count ? 1 : findRatio((ratio) => binomialAtMost(hits, count, ratio) > missed),
  };
}

/** Returns the ratio up to which a statement holds. */
function findRatio(holds: (ratio: number) => boolean): number {
  let low = 0;
  let high = 1;
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
