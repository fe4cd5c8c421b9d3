import { formatDurationNs } from "../plan/units.ts";
import { saturationReason, sentPerSec } from "./metrics.ts";
import type { WindowResult } from "./window.ts";

/** Less than was asked for, or late: what a schedule was meant to send, what it sent, and what kept it. */

/** Shares below these are noise: of requests that were late, and of the rate that was missed. */
const LATE_RATIO = 0.01;
const MISSED_RATIO = 0.01;
/** The grain of a schedule: a window's edge cuts off up to this many requests. */
const EDGE_REQUESTS = 2;

/** How the requests were scheduled. */
export interface ScheduledRate {
  /** Requests per second that were asked for; undefined where they were due at given times. */
  readonly askedPerSec: number | undefined;
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

/** What became of the schedule; undefined when it was kept. */
export function explainShortfall(window: WindowResult, rate: ScheduledRate): RateShortfall | undefined {
  const total = window.requestCount;
  const sent = sentPerSec(window);
  const seconds = window.durationNs / 1e9;
  const missed = rate.askedPerSec === undefined ? 0 : rate.askedPerSec - sent;
  const isMissed = missed * seconds > EDGE_REQUESTS && missed > (rate.askedPerSec ?? 0) * MISSED_RATIO;
  const lateRatio = total === 0 ? 0 : window.delayedCount / total;
  if (!isMissed && lateRatio <= LATE_RATIO) return undefined;
  const asked = rate.askedPerSec === undefined ? "" : ` of the ${rate.askedPerSec} asked for`;
  const late = `${(lateRatio * 100).toFixed(1)} % of the requests were more than 1 ms late`;
  const delay =
    window.sendDelay.count === 0
      ? ""
      : ` (p99 ${formatDurationNs(window.sendDelay.percentileUs(99) * 1000)}, at most ${formatDurationNs(window.sendDelay.maxNs)})`;
  const achieved = `${sent.toFixed(1)} requests/s were sent${asked}; ${late}${delay}`;
  return { achieved, ...causeOf(window, rate) };
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
