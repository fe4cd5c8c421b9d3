import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { informativeEnds } from "../../measure/intervals/certainty.ts";
import { estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import { estimatePercentile, REPORTED_PERCENTILES } from "../../measure/intervals/percentile-interval.ts";
import { createHistogram, recordUs } from "../../measure/latency-histogram.ts";
import type { LatencyTally } from "../../measure/latency-tally.ts";
import { nsToUs } from "../../plan/units.ts";
import type { LatencyJson } from "../schema/latency.ts";
import { byPercentile } from "./confidence.ts";

const SIGNIFICANT_DIGITS = 3;

/** Converts latencies to JSON; null without any. */
export function toLatencyJson(tally: LatencyTally): LatencyJson | null {
  if (tally.count === 0) return null;
  const mean = estimateMeanNs(tally);
  const { low: meanLowNs, high: meanHighNs } = informativeEnds(mean);
  return {
    count: tally.count,
    effectiveCount: mean.effectiveCount,
    meanUs: nsToUs(mean.value),
    meanLowUs: meanLowNs === null ? null : nsToUs(meanLowNs),
    meanHighUs: meanHighNs === null ? null : nsToUs(meanHighNs),
    deviationUs: tally.deviationNs === undefined ? null : nsToUs(tally.deviationNs),
    minUs: nsToUs(tally.minNs),
    maxUs: nsToUs(tally.maxNs),
    percentiles: byPercentile(REPORTED_PERCENTILES, (percentile) => {
      const { value, low, high, effectiveCount, isReliable, neededCount } = estimatePercentile(tally, percentile);
      return { us: value, lowUs: low, highUs: high, effectiveCount, isReliable, neededCount };
    }),
    hdrHistogramUs: encodeHistogram(tally),
  };
}

/** Encodes latencies in microseconds as a compressed HDR histogram in base64, the format of HdrHistogram's tools. */
function encodeHistogram(tally: LatencyTally): string {
  const histogram = createHistogram(SIGNIFICANT_DIGITS);
  tally.forEach((us, count) => {
    recordUs(histogram, us, count);
  });
  return encodeIntoCompressedBase64(histogram);
}
