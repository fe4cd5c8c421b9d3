import { type Share, WHOLE } from "../../load/share.ts";
import { CompletionGaps, type IdleTimes } from "../../measure/completion-gaps.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { type MlperfSample, MlperfTally } from "../../measure/mlperf/mlperf-tally.ts";
import { RECORD_CANCELLED, type RecordColumns } from "../../measure/records.ts";
import {
  NO_OPEN_REQUESTS,
  type OpenRequests,
  sumOpenRequests,
  toMeasurement,
  WindowTally,
} from "../../measure/tally/window-tally.ts";
import { type FinishedTimeline, Timeline } from "../../measure/timeline.ts";
import type { HealthMonitor } from "../../telemetry/health-monitor.ts";
import { forgetArrivals } from "../../transport/arrival.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import { type CountedSends, countByMember, GroupCounter, toGroupWindows, withGroups } from "./group-counter.ts";
import { type TallyParts, talliesOf } from "./tallies.ts";

/** Options of counting. */
export interface CountOptions {
  readonly isScheduled: boolean;
  /** Whether lanes may be idle. */
  readonly canLanesWait: boolean;
  /** Length of a level with a time line, in nanoseconds. Absent: no time line. */
  readonly timelineNs?: number;
  /**
   * Whether the load is not steady yet: requests that end are counted, for a run that ends before that, but not as a window. Default:
   * false.
   */
  readonly isLead?: boolean;
  /** Whether the tokens before it belong to a level that has just ended. Default: they are discarded. */
  readonly keepsTokens?: boolean;
  /** Number of requests in a query of MLPerf. Absent: queries are not counted. */
  readonly samplesPerQuery?: number | undefined;
}

/** State of the last window of a level after sending has stopped. */
export interface LastWindow {
  /** Whether sending was stopped before its end. Then the lanes are those that were active when it stopped. Default: false. */
  readonly wasStopped?: boolean;
  /** Time after the window in which its requests were still in flight, in nanoseconds. Default: 0. */
  readonly afterEndNs?: number;
  /** End of the time in which requests were due, if no request sent was due later. Default: the end of the window. */
  readonly sendingEndNs?: number;
}

/** A window that has begun. */
export interface BegunWindow {
  readonly number: number;
  /** Its start. Later than requested where a remote conductor's message took time, see {@link WindowCounter.begin}. */
  readonly startNs: number;
}

/** A window that has ended. */
export interface CutWindow {
  /** Without the reports of servers and GPUs. */
  readonly window: Measurement;
  readonly nextNumber: number;
  /** The level's time lines, which end with the window: one for each sender; empty without a time line. */
  readonly timelines: readonly FinishedTimeline[];
  /** Times of the level until the window's end in which nothing ended. Undefined: the sender has no share of the load. */
  readonly idle: IdleTimes | undefined;
  /** The queries of MLPerf so far. Absent: they are not counted. */
  readonly queries?: MlperfSample | undefined;
  /** Completed requests by member of a mix. Absent: the requests have no groups. */
  readonly completedByMember?: readonly number[];
}

/** Receives the records of a sender and divides them into windows. */
export class LevelMeter {
  /** Gaps of the current level. */
  gaps: CompletionGaps | undefined;
  timeline: Timeline | undefined;
  /** Time line of a whole run with phases. */
  runTimeline: Timeline | undefined;
  /** Undefined unless the load is a scenario of MLPerf. */
  mlperf: MlperfTally | undefined;
  /** End of the last request that was not cancelled, including empty messages. */
  lastEndNs = 0;
  /** Latest send time of these requests. */
  lastSendNs = 0;
  /** Number of the current window in the run, from 1. Incomplete windows have a number too. */
  windowNumber = 0;
  private tally: WindowTally | undefined;
  private groupTallies: WindowTally[] = [];
  private newTally: () => WindowTally = () =>
    new WindowTally({ isScheduled: false, countsReading: true, isDecoupled: false });
  private newGroups: () => WindowTally[] = () => [];

  /** @param newGroups creates the tallies of the groups of requests; default: no groups */
  begin(newTally: () => WindowTally, newGroups: () => WindowTally[] = () => []): void {
    this.windowNumber++;
    this.count(newTally, newGroups);
  }

  /** Resumes counting, without a new window. */
  count(newTally: () => WindowTally, newGroups: () => WindowTally[]): void {
    this.newTally = newTally;
    this.newGroups = newGroups;
    this.tally = newTally();
    this.groupTallies = newGroups();
    this.lastEndNs = 0;
    this.lastSendNs = 0;
  }

  /** Stops measuring until the next `begin`. */
  pause(): void {
    this.tally = undefined;
    this.timeline = undefined;
    this.gaps = undefined;
  }

  add(records: RecordColumns, count: number): void {
    // Checking the last row is not enough: failed requests are recorded out of order.
    for (let row = 0; row < count; row++) {
      if (((records.flags[row] as number) & RECORD_CANCELLED) !== 0) continue;
      this.lastEndNs = Math.max(this.lastEndNs, records.overNs[row] as number);
      this.lastSendNs = Math.max(this.lastSendNs, records.sendStartNs[row] as number);
    }
    this.tally?.add(records, count);
    if (this.groupTallies.length > 0) this.addToGroups(records, count);
    this.timeline?.add(records, count);
    this.gaps?.add(records, count);
    this.runTimeline?.add(records, count);
    this.mlperf?.add(records, count);
  }

  private addToGroups(records: RecordColumns, count: number): void {
    const present = new Set(records.group.subarray(0, count));
    for (const group of present) this.groupTallies[group]?.add(records, count, group);
  }

  /**
   * Adds the values extracted from a response, in the order of their names. @param atNs when the response ended @param group group of the
   * request; default: none
   */
  addExtracted(values: readonly unknown[], atNs: number, group?: number): void {
    this.tally?.extracted?.add(values, atNs);
    if (group !== undefined) this.groupTallies[group]?.extracted?.add(values, atNs);
  }

  /** Number of requests in the current window, including failed ones, excluding those still in the columns. */
  get collected(): number {
    return this.tally === undefined ? 0 : this.tally.latency.count + this.tally.failedCount;
  }

  /** Ends the window and starts the next one. */
  cut(): WindowTally {
    const tally = this.tally ?? this.newTally();
    this.windowNumber++;
    this.tally = this.newTally();
    return tally;
  }

  /** Like `cut`, for the groups of requests. Call right after it. */
  cutGroups(): readonly WindowTally[] {
    const tallies = this.groupTallies;
    this.groupTallies = this.newGroups();
    return tallies;
  }
}

/** Dependencies of a {@link WindowCounter}. */
export interface CounterParts extends TallyParts {
  readonly groups?: RequestGroups | undefined;
  readonly sends: CountedSends;
  readonly meter: LevelMeter;
  readonly health: HealthMonitor;
  /** The counting sender's share of the load. Default: all of it. */
  readonly share?: Share | undefined;
}

/** Divides a level's time into windows and counts the requests that end in each. */
export class WindowCounter {
  private readonly parts: CounterParts;
  private readonly groups: GroupCounter | undefined;
  /** Start of the current window. */
  startNs = 0;
  private endedBefore = 0;
  /** Lanes that were active when sending was last stopped. */
  private lanesBeforeStop = 0;
  private sentBefore = 0;
  private canLanesWait = false;
  private openBefore: OpenRequests = NO_OPEN_REQUESTS;
  /** Gaps of the whole level. */
  private gaps: CompletionGaps | undefined;
  /** Send times of the requests that were in flight at the end of the last window. */
  private openSentAtCutNs: readonly number[] = [];

  constructor(parts: CounterParts) {
    this.parts = parts;
    this.groups = parts.groups && new GroupCounter(parts.sends, parts.groups);
  }

  /** Number of requests that have ended in the current window. */
  get endedCount(): number {
    return this.parts.sends.endedCount - this.endedBefore;
  }

  /** Remembers the number of active lanes. Call before sending is stopped. */
  keepLanes(): void {
    this.lanesBeforeStop = this.parts.sends.activeLanes;
  }

  /** Begins a window. Requests in flight then are counted when they end. See {@link borderAt}. */
  begin(wantedNs: number, options: CountOptions): BegunWindow {
    const { sends, meter, health } = this.parts;
    const { isScheduled, canLanesWait, timelineNs, isLead = false, samplesPerQuery } = options;
    const startNs = this.borderAt(wantedNs);
    const tallies = talliesOf(this.parts, isScheduled);
    this.canLanesWait = canLanesWait;
    this.startNs = startNs;
    meter[isLead ? "count" : "begin"](tallies.all, tallies.groups);
    this.gaps = new CompletionGaps(startNs);
    meter.gaps = this.gaps;
    if (timelineNs !== undefined) meter.timeline = new Timeline(startNs, { durationNs: timelineNs });
    meter.mlperf = samplesPerQuery === undefined ? undefined : new MlperfTally(samplesPerQuery);
    this.sentBefore = sends.sentCount;
    this.endedBefore = sends.endedCount;
    this.groups?.begin(startNs);
    this.openBefore = sumOpenRequests(this.openSentNs(), startNs);
    health.start();
    return { number: meter.windowNumber, startNs };
  }

  /**
   * Returns the border between two windows. The message of a remote conductor takes time, so for one of several senders the border is not
   * before the last response: a window contains exactly the requests that ended in it.
   */
  private borderAt(wantedNs: number): number {
    const { sends, meter, share = WHOLE } = this.parts;
    if (share.count > 1) sends.drain();
    forgetArrivals();
    return share.count === 1 ? wantedNs : Math.max(wantedNs, meter.lastEndNs);
  }

  /** Ends the window at `wantedNs` and begins the next one. See {@link borderAt}. */
  cut(wantedNs: number, last: LastWindow = {}): CutWindow {
    const { sends, meter, health } = this.parts;
    sends.drain();
    const endNs = this.borderAt(wantedNs);
    const { windowNumber } = meter;
    const tally = meter.cut();
    const parts = this.groups?.cut(meter.cutGroups(), endNs);
    const { startNs, openBefore } = this;
    this.openSentAtCutNs = this.openSentNs();
    const openAfter = sumOpenRequests(this.openSentAtCutNs, endNs);
    const { wasStopped = false, afterEndNs = 0, sendingEndNs = endNs } = last;
    const laneCount = wasStopped ? this.lanesBeforeStop : sends.activeLanes;
    const sendingNs = Math.max(0, Math.max(sendingEndNs, sends.lastDueNs) - startNs);
    const counts = {
      sentCount: sends.sentCount - this.sentBefore,
      sendingNs,
      openBefore,
      openAfter,
      afterEndNs,
      laneCount,
    };
    const frame = { startNs, endNs, ...counts, canLanesWait: this.canLanesWait, health: health.take(endNs) };
    this.startNs = endNs;
    this.openBefore = openAfter;
    this.sentBefore = sends.sentCount;
    this.endedBefore = sends.endedCount;
    // The time before the first window has no number.
    const numbers = windowNumber === 0 ? {} : { numbers: { first: windowNumber, last: windowNumber } };
    const window = { ...toMeasurement(tally, frame), ...numbers };
    const level = {
      nextNumber: meter.windowNumber,
      timelines: this.takeTimelines(),
      idle: this.gaps?.until(endNs, this.openSentAtCutNs),
      queries: meter.mlperf?.sample(),
    };
    if (parts === undefined) return { ...level, window };
    const groups = toGroupWindows(parts, frame, window);
    return { ...level, window: withGroups(window, groups), completedByMember: countByMember(parts) };
  }

  /** Ends the level's time line at the end of its last window, with the same requests. */
  private takeTimelines(): readonly FinishedTimeline[] {
    const { meter } = this.parts;
    const { timeline } = meter;
    meter.timeline = undefined;
    return timeline === undefined ? [] : [timeline.finish(this.openSentAtCutNs, this.startNs)];
  }

  /** Returns the send time of each request in flight. */
  openSentNs(): number[] {
    return this.parts.sends.client.calls.filter(({ isActive }) => isActive).map(({ sendStartNs }) => sendStartNs);
  }
}
