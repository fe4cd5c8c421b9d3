import { build, type Histogram } from "hdr-histogram-js";

/** HDR histograms of durations in microseconds, from 1 us to 1 h. */

const HIGHEST_US = 3_600_000_000; // 1 h

/** Creates an empty histogram. @param significantDigits with 2 a percentile is up to 1 % too high, with 3 up to 0.1 % */
export function createHistogram(significantDigits: 2 | 3): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: significantDigits,
  });
}

/** Records a duration, cut to the histogram's range. @param us whole microseconds @param count number of such durations */
export function recordUs(histogram: Histogram, us: number, count = 1): void {
  histogram.recordValueWithCount(Math.min(HIGHEST_US, Math.max(1, us)), count);
}
