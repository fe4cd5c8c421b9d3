import { msToNs, nsToSec } from "../plan/units.ts";
import { type Measurement, sendDelayOf } from "./measurement.ts";
import { countAbove, percentileAt } from "./sketch.ts";

/** Values derived from a measurement: rates, gaps and late requests. */

/**
 * Inferences per second: requests × batch size / duration. Computed in single precision like perf_analyzer, so that the six printed digits
 * are the same.
 */
export function inferPerSec(window: Measurement, batchSize: number): number {
  return Math.fround(Math.fround(window.requestCount * batchSize) / Math.fround(nsToSec(window.durationNs)));
}

/** Returns the responses with content per second, in single precision like {@link inferPerSec}. */
export function responsesPerSec(window: Measurement): number {
  return Math.fround(window.responseCount / Math.fround(nsToSec(window.durationNs)));
}

/** Returns the mean time between two responses of a request, over all pairs, in nanoseconds; undefined if no request has two responses. */
export function meanGapNs({ isDecoupled, betweenCount, betweenSumNs }: Measurement): number | undefined {
  return isDecoupled && betweenCount > 0 ? betweenSumNs / betweenCount : undefined;
}

/** Returns the completed sequences per second, in single precision like {@link inferPerSec}. */
export function sequencesPerSec(window: Measurement): number {
  return Math.fround(window.sequenceCount / Math.fround(nsToSec(window.durationNs)));
}

/** Returns the requests sent per second of the time in which they were due; undefined if that time is 0. */
export function sentPerSec(window: Pick<Measurement, "sendingNs" | "sentCount">): number | undefined {
  return window.sendingNs > 0 ? window.sentCount / nsToSec(window.sendingNs) : undefined;
}

/**
 * Returns the time in which requests were due, for a load that begins with a request and not with a gap: `n` requests have `n -
 * 1` gaps between them, so one mean gap is added. 0 if fewer than two of them were due at different times.
 * @param sentNs from the first send to the last @param dueNs from the first due time to the last
 */
export function sendingNsOf(count: number, sentNs: number, dueNs: number): number {
  return count > 1 && dueNs > 0 ? (sentNs * count) / (count - 1) : 0;
}

const LATE_NS = msToNs(1);

/**
 * Returns the number of successful requests sent more than 1 ms late; 0 without a schedule. perf_analyzer's delayed requests are
 * fewer: it counts only requests whose lane was not waiting.
 */
export function lateCount(window: Measurement): number {
  return countAbove(sendDelayOf(window), LATE_NS, true).aboveCount;
}

/** Returns the latency for stability and limits, in nanoseconds: a percentile, or the mean if `percentile` is null. */
export function stabilizingLatencyNs(window: Measurement, percentile: number | null): number {
  return percentile === null ? Math.floor(window.latency.mean) : percentileAt(window.latency, percentile);
}
