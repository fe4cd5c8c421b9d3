import { build, encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { certainEnds } from "../../measure/intervals/certainty.ts";
import { estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import { estimatePercentile, REPORTED_PERCENTILES } from "../../measure/intervals/percentile-interval.ts";
import { deviationOf, forEachValue, type Sketch } from "../../measure/sketch.ts";
import { nsToUs } from "../../plan/units.ts";
import type { LatencyJson } from "../schema/latency.ts";
import { byPercentile } from "./confidence.ts";

/** Percentiles of the encoded histogram are up to 0.1 % too high. */
const SIGNIFICANT_DIGITS = 3;
const HIGHEST_US = 3_600_000_000; // 1 h

/** Converts latencies to JSON; null without any. @param decided percentiles with a certain verdict at this level. Default: none */
export function toLatencyJson(tally: Sketch, decided: readonly number[] = []): LatencyJson | null {
  if (tally.count === 0) return null;
  const mean = estimateMeanNs(tally);
  const deviationNs = deviationOf(tally);
  const { low: meanLowNs, high: meanHighNs } = certainEnds(mean);
  return {
    count: tally.count,
    effectiveCount: mean.effectiveCount,
    meanUs: nsToUs(mean.value),
    meanLowUs: meanLowNs === null ? null : nsToUs(meanLowNs),
    meanHighUs: meanHighNs === null ? null : nsToUs(meanHighNs),
    deviationUs: deviationNs === undefined ? null : nsToUs(deviationNs),
    minUs: nsToUs(tally.min),
    maxUs: nsToUs(tally.max),
    percentiles: byPercentile(REPORTED_PERCENTILES, (percentile) => {
      const estimate = estimatePercentile(tally, percentile);
      const { value, effectiveCount, neededCount, isReliable } = estimate;
      const { low, high } = certainEnds(estimate);
      const verdict = decided.includes(percentile) ? { isDecided: true } : {};
      return { us: value, lowUs: low, highUs: high, effectiveCount, isReliable, ...verdict, neededCount };
    }),
    hdrHistogramUs: encodeHistogram(tally),
  };
}

/** Encodes latencies in microseconds as a compressed HDR histogram in base64, the format of HdrHistogram's tools. */
function encodeHistogram(tally: Sketch): string {
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: SIGNIFICANT_DIGITS,
  });
  forEachValue(tally, (ns, count) => {
    histogram.recordValueWithCount(Math.min(HIGHEST_US, Math.max(1, nsToUs(ns))), count);
  });
  return encodeIntoCompressedBase64(histogram);
}
