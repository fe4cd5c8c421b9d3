import { formatDurationNs, formatPct, nsToSec, plural } from "../plan/units.ts";
import { saturationReason } from "./client-limit.ts";
import { lateCount, sentPerSec } from "./derived-values.ts";
import { type Measurement, sendDelayOf } from "./measurement.ts";
import { percentileAt, type Sketch, sumOfValues } from "./sketch.ts";

/** Checks whether a schedule of requests was met, and explains why not. */

/** Lower ratios of late requests and of missed requests are noise. */
const LATE_RATIO = 0.01;
export const MISSED_RATIO = 0.01;
/** Number of requests that may be cut off at the edges of a window. */
const EDGE_REQUESTS = 2;

/** Allowed deviation of a random number of requests from its mean, in standard deviations. */
const RANDOM_DEVIATIONS = 3;

/** A requested rate. */
export interface AskedRate {
  readonly perSec: number;
  /** Standard deviation of the gaps divided by their mean: 0 for constant gaps, 1 for Poisson arrivals. */
  readonly gapDeviationRatio: number;
}

/** The schedule of a load. */
export interface ScheduledRate {
  /** Undefined if requests are due at given times. */
  readonly asked: AskedRate | undefined;
  /** Whether lanes wait for the response before the next send. */
  readonly isSync: boolean;
  /** Number of lanes that share the schedule. */
  readonly laneCount: number;
  /** Number of concurrent sequences, each of which waits for its response before the next request; undefined without sequences. */
  readonly sequenceCount: number | undefined;
  /** Maximum number of outstanding requests; absent: no limit. */
  readonly maxOutstanding?: number | undefined;
}

/** A schedule that was missed. The sentences have no full stop. */
export interface RateShortfall {
  /** Requested and actual rate if they differ, and the delay of requests. */
  readonly achieved: string;
  /** Delay of requests; undefined if no request was late. */
  readonly late: string | undefined;
  /** Ratio of requests that were more than 1 ms late, 0 to 1. */
  readonly lateRatio: number;
  /** The likely cause. */
  readonly cause: string;
  /** The resource that was too small: lanes, sequences, the limit on outstanding requests, or the client. */
  readonly bound: "lanes" | "sequences" | "outstanding" | "client";
}

/**
 * Reports whether a rate is below the requested one by more than window edges and random arrivals explain.
 * @param tolerance allowed ratio of missed requests
 */
export function isRateMissed(perSec: number, asked: AskedRate, durationNs: number, tolerance: number): boolean {
  const seconds = nsToSec(durationNs);
  const missedCount = (asked.perSec - perSec) * seconds;
  const chance = RANDOM_DEVIATIONS * asked.gapDeviationRatio * Math.sqrt(asked.perSec * seconds);
  return missedCount > EDGE_REQUESTS + chance && missedCount > asked.perSec * seconds * tolerance;
}

/** Explains why the schedule was missed; undefined when it was met. */
export function explainShortfall(window: Measurement, rate: ScheduledRate): RateShortfall | undefined {
  const { sendingNs } = window;
  const sent = sentPerSec(window) ?? 0;
  const isMissed = rate.asked !== undefined && isRateMissed(sent, rate.asked, sendingNs, MISSED_RATIO);
  const lateRatio = lateRatioOf(window);
  if (!isMissed && lateRatio <= LATE_RATIO) return undefined;
  const late = lateRatio === 0 ? undefined : describeDelay(sendDelayOf(window), lateRatio);
  const delay = late ?? "no request was more than 1 ms late";
  // A rate that random gaps explain is not reported.
  const achieved = isMissed
    ? `${sent.toFixed(1)} requests/s were sent of the requested ${rate.asked?.perSec}; ${delay}`
    : delay;
  return { achieved, late, lateRatio, ...causeOf(window, rate) };
}

/** Describes requests that were sent late; undefined where too few were. */
export function describeLateSends(window: Measurement): string | undefined {
  const lateRatio = lateRatioOf(window);
  return lateRatio <= LATE_RATIO ? undefined : describeDelay(sendDelayOf(window), lateRatio);
}

function lateRatioOf(window: Measurement): number {
  const { count } = sendDelayOf(window);
  return count === 0 ? 0 : lateCount(window) / count;
}

function describeDelay(sendDelay: Sketch, lateRatio: number): string {
  const delays = `p99 ${formatDurationNs(percentileAt(sendDelay, 99))}, at most ${formatDurationNs(sendDelay.max)}`;
  return `${formatPct(lateRatio)} of the requests were more than 1 ms late (${delays})`;
}

function causeOf(window: Measurement, rate: ScheduledRate): Pick<RateShortfall, "cause" | "bound"> {
  const { isSync, laneCount, sequenceCount, maxOutstanding } = rate;
  const saturation = saturationReason(window);
  if (saturation !== undefined) return { cause: `the client was the limit: ${saturation}`, bound: "client" };
  const meanOutstanding = sumOfValues(window.latency) / window.durationNs;
  const took = `waited for their responses, which took ${formatDurationNs(window.latency.mean)} on average`;
  if (sequenceCount !== undefined && meanOutstanding > sequenceCount * 0.5)
    return { cause: `${sequenceCount} ${plural(sequenceCount, "sequence")} ${took}`, bound: "sequences" };
  if (maxOutstanding !== undefined && meanOutstanding > maxOutstanding * 0.5)
    return {
      cause: `the maximum of ${maxOutstanding} outstanding ${plural(maxOutstanding, "request")} ${took}`,
      bound: "outstanding",
    };
  if (isSync && meanOutstanding > laneCount * 0.5)
    return { cause: `${laneCount} ${plural(laneCount, "lane")} ${took}`, bound: "lanes" };
  return { cause: "the client woke up late: another process may be using its core", bound: "client" };
}
