import { formatDurationNs } from "../plan/units.ts";
import { lateCount, saturationReason, sentPerSec } from "./metrics.ts";
import type { WindowResult } from "./window.ts";

/** Less than was asked for, or late: what a schedule was meant to send, what it sent, and what kept it. */

/** Shares below these are noise: of requests that were late, and of the rate that was missed. */
const LATE_RATIO = 0.01;
const MISSED_RATIO = 0.01;
/** The grain of a schedule: a window's edge cuts off up to this many requests. */
const EDGE_REQUESTS = 2;

/** Standard deviations by which a random number of requests may differ from its mean. */
const RANDOM_DEVIATIONS = 3;

/** A request rate that was asked for. */
export interface AskedRate {
  readonly perSec: number;
  /** Deviation of a gap between two requests over its mean: 0 where gaps are constant, 1 for Poisson arrivals. */
  readonly gapDeviationRatio: number;
}

/** How the requests were scheduled. */
export interface ScheduledRate {
  /** Undefined where requests were due at given times. */
  readonly asked: AskedRate | undefined;
  /** Lanes wait for their answers before they send again. */
  readonly isSync: boolean;
  /** Lanes the schedule was dealt to. */
  readonly laneCount: number;
  /** Sequences under way, each of which waits for its answers before it goes on; undefined where none do. */
  readonly sequenceCount: number | undefined;
  /** Most requests outstanding; absent where there is no limit. */
  readonly maxOutstanding?: number | undefined;
}

/** A schedule that was not kept. The sentences have no full stop. */
export interface RateShortfall {
  /** What was asked for and what was sent. */
  readonly achieved: string;
  /** What kept it. */
  readonly cause: string;
  /** What there was too little of: lanes, sequences, or anything else. */
  readonly bound: "lanes" | "sequences" | "other";
}

/**
 * Whether a number of requests per second is less than was asked for, by more than the edges of the window and the chance of random arrivals
 * explain.
 * @param tolerance share of the rate that may be missed
 */
export function isRateMissed(perSec: number, asked: AskedRate, durationNs: number, tolerance: number): boolean {
  const seconds = durationNs / 1e9;
  const missedCount = (asked.perSec - perSec) * seconds;
  const chance = RANDOM_DEVIATIONS * asked.gapDeviationRatio * Math.sqrt(asked.perSec * seconds);
  return missedCount > EDGE_REQUESTS + chance && missedCount > asked.perSec * seconds * tolerance;
}

/** What became of the schedule; undefined when it was kept. */
export function explainShortfall(window: WindowResult, rate: ScheduledRate): RateShortfall | undefined {
  const { sendDelay, durationNs } = window;
  const sent = sentPerSec(window);
  const isMissed = rate.asked !== undefined && isRateMissed(sent, rate.asked, durationNs, MISSED_RATIO);
  const lateRatio = sendDelay.count === 0 ? 0 : lateCount(window) / sendDelay.count;
  if (!isMissed && lateRatio <= LATE_RATIO) return undefined;
  const asked = rate.asked === undefined ? "" : ` of the ${rate.asked.perSec} asked for`;
  const achieved = `${sent.toFixed(1)} requests/s were sent${asked}; ${describeDelay(sendDelay, lateRatio)}`;
  return { achieved, ...causeOf(window, rate) };
}

function describeDelay(sendDelay: WindowResult["sendDelay"], lateRatio: number): string {
  if (lateRatio === 0) return "no request was more than 1 ms late";
  const delays = `p99 ${formatDurationNs(sendDelay.percentileUs(99) * 1000)}, at most ${formatDurationNs(sendDelay.maxNs)}`;
  return `${formatPct(lateRatio)} of the requests were more than 1 ms late (${delays})`;
}

/** Never 0 of something that is there. */
function formatPct(ratio: number): string {
  return ratio < 0.001 ? "less than 0.1 %" : `${(ratio * 100).toFixed(1)} %`;
}

function causeOf(window: WindowResult, rate: ScheduledRate): Omit<RateShortfall, "achieved"> {
  const { isSync, laneCount, sequenceCount, maxOutstanding } = rate;
  const saturation = saturationReason(window);
  if (saturation !== undefined) return { cause: `the client was the limit: ${saturation}`, bound: "other" };
  const meanOutstanding = window.latency.sumNs / window.durationNs;
  const took = `waited for their answers, which took ${formatDurationNs(window.latency.meanNs)} on average`;
  if (sequenceCount !== undefined && meanOutstanding > sequenceCount * 0.5)
    return { cause: `${sequenceCount} sequences ${took}`, bound: "sequences" };
  if (maxOutstanding !== undefined && meanOutstanding > maxOutstanding * 0.5)
    return { cause: `the ${maxOutstanding} requests that may be outstanding ${took}`, bound: "other" };
  if (isSync && meanOutstanding > laneCount * 0.5) return { cause: `${laneCount} lanes ${took}`, bound: "lanes" };
  return { cause: "the client was woken late: something else may be using its core", bound: "other" };
}
