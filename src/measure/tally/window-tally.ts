import { defined } from "../../plan/objects.ts";
import type { GoodputPlan } from "../../plan/tokens.ts";
import type { ExtractedName } from "../../service/content.ts";
import { ExtractedTally } from "../extracted-tally.ts";
import type { GaugeReadings } from "../gauge-readings.ts";
import { GoodTally, isOfRequests, isWithin } from "../good-requests.ts";
import type { ClientHealth, Measurement } from "../measurement.ts";
import {
  RECORD_CANCELLED,
  RECORD_DELAYED,
  RECORD_FAILED,
  RECORD_RESENT,
  RECORD_SEQUENCE_END,
  type RecordColumns,
} from "../records.ts";
import type { ServerDelta } from "../server-delta.ts";
import type { Sketch } from "../sketch.ts";
import { BinTally } from "./bin-tally.ts";
import { DurationTally } from "./duration-tally.ts";

/** Properties of a run that decide how records are counted. */
interface TallyOptions {
  /** Whether requests are due at given times. */
  readonly isScheduled: boolean;
  /** Whether the time from the first to the last byte counts as receiving (HTTP), not only decoding. */
  readonly countsReading: boolean;
  /** Whether a request may have several responses. */
  readonly isDecoupled: boolean;
  /** See {@link Measurement.isStreamed}. Default: false */
  readonly isStreamed?: boolean | undefined;
  /** The values that the target extracts. Default: none */
  readonly extracted?: readonly ExtractedName[] | undefined;
  /** The limits of each goodput that is judged; limits on tokens are counted elsewhere. Default: none */
  readonly goodputs?: readonly GoodputPlan[] | undefined;
}

const ALL_GROUPS = -1;

/** Aggregates the records of one window. */
export class WindowTally {
  readonly bins = new BinTally();
  readonly latency = new DurationTally(this.bins.newChannel("times"));
  /** For requests with a response, which are not all, so it has separate bins. Undefined if equal to the latency. */
  readonly firstResponse: DurationTally | undefined;
  readonly firstBins = new BinTally();
  /** Undefined if equal to the latency. */
  readonly scheduledLatency: DurationTally | undefined;
  /** Undefined without a schedule. */
  readonly sendDelay: DurationTally | undefined;
  failedCount = 0;
  cancelledCount = 0;
  resentCount = 0;
  delayedCount = 0;
  sequenceCount = 0;
  responseCount = 0;
  betweenCount = 0;
  betweenSumNs = 0;
  sendSumNs = 0;
  receiveSumNs = 0;
  /** Time in which lanes had a request outstanding, including failed ones. */
  outstandingSumNs = 0;
  /** Undefined if the target extracts no values. */
  readonly extracted: ExtractedTally | undefined;
  /** Undefined if no goodput on times of all requests is judged. */
  readonly good: GoodTally | undefined;
  readonly options: TallyOptions;
  private readonly ends = new Float64Array(1024);
  private readonly latencies = new Float64Array(1024);
  private readonly firsts = new Float64Array(1024);
  private readonly scheduled = new Float64Array(1024);
  private readonly delays = new Float64Array(1024);

  constructor(options: TallyOptions) {
    this.options = options;
    const { extracted = [], isDecoupled, isScheduled } = options;
    const newTally = (isNeeded: boolean, bins = this.bins): DurationTally | undefined =>
      isNeeded ? new DurationTally(bins.newChannel("times")) : undefined;
    this.extracted = extracted.length === 0 ? undefined : new ExtractedTally(extracted);
    const goodputs = (options.goodputs ?? []).filter(isOfRequests);
    this.good = goodputs.length === 0 ? undefined : new GoodTally(goodputs);
    this.firstResponse = newTally(isDecoupled, this.firstBins);
    this.scheduledLatency = newTally(isScheduled);
    this.sendDelay = newTally(isScheduled);
  }

  /** @param group adds only the records of this group. Default: all */
  add(records: RecordColumns, count: number, group = ALL_GROUPS): void {
    for (let start = 0; start < count; start += 1024)
      this.addChunk(records, start, Math.min(count, start + 1024), group);
  }

  private addChunk(records: RecordColumns, start: number, end: number, group: number): void {
    const { sendStartNs, sendEndNs, firstByteNs, endNs, overNs, decodeNs, intendedSendNs, responseCount, flags } =
      records;
    const { countsReading } = this.options;
    let used = 0;
    for (let row = start; row < end; row++) {
      if (group !== ALL_GROUPS && records.group[row] !== group) continue;
      const flag = flags[row] as number;
      const sentNs = sendStartNs[row] as number;
      const latencyNs = (endNs[row] as number) - sentNs;
      this.outstandingSumNs += (overNs[row] as number) - sentNs;
      if ((flag & RECORD_RESENT) !== 0) this.resentCount++;
      if ((flag & RECORD_FAILED) !== 0) {
        if ((flag & RECORD_CANCELLED) === 0) {
          this.failedCount++;
          this.bins.addFailed(overNs[row] as number);
        } else this.cancelledCount++;
        continue;
      }
      if ((flag & RECORD_DELAYED) !== 0) this.delayedCount++;
      if ((flag & RECORD_SEQUENCE_END) !== 0) this.sequenceCount++;
      const responses = responseCount[row] as number;
      this.responseCount += responses;
      if (responses > 1) {
        this.betweenCount += responses - 1;
        this.betweenSumNs += (endNs[row] as number) - (firstByteNs[row] as number);
      }
      this.sendSumNs += (sendEndNs[row] as number) - sentNs;
      this.receiveSumNs +=
        (decodeNs[row] as number) + (countsReading ? (endNs[row] as number) - (firstByteNs[row] as number) : 0);
      this.ends[used] = endNs[row] as number;
      this.latencies[used] = latencyNs;
      this.firsts[used] = responses > 0 ? (firstByteNs[row] as number) - sentNs : Number.NaN;
      this.scheduled[used] = (endNs[row] as number) - (intendedSendNs[row] as number);
      this.delays[used] = Math.max(0, sentNs - (intendedSendNs[row] as number));
      used++;
    }
    if (this.good !== undefined) this.addGood(this.good, used);
    const bins = this.bins.addAll(this.ends, used);
    this.latency.addAll(this.latencies, used, bins);
    this.scheduledLatency?.addAll(this.scheduled, used, bins);
    this.sendDelay?.addAll(this.delays, used, bins);
    if (this.firstResponse !== undefined) this.addFirsts(this.firstResponse, used);
  }

  private addFirsts(tally: DurationTally, used: number): void {
    let kept = 0;
    for (let at = 0; at < used; at++) {
      if (Number.isNaN(this.firsts[at])) continue;
      this.firsts[kept] = this.firsts[at] as number;
      this.ends[kept++] = this.ends[at] as number;
    }
    tally.addAll(this.firsts, kept, this.firstBins.addAll(this.ends, kept));
  }

  private addGood(good: GoodTally, used: number): void {
    const times = { latency: 0, scheduledLatency: 0, firstResponse: 0 };
    const isGood = (limits: GoodputPlan): boolean => isWithin(limits, times);
    for (let at = 0; at < used; at++) {
      times.latency = this.latencies[at] as number;
      // Without a schedule, a request is due when it is sent.
      times.scheduledLatency = (this.options.isScheduled ? this.scheduled : this.latencies)[at] as number;
      times.firstResponse = (this.options.isDecoupled ? this.firsts : this.latencies)[at] as number;
      good.add(isGood, this.ends[at] as number);
    }
  }
}

/** The data of a window besides its records. */
export interface WindowFrame {
  readonly startNs: number;
  readonly endNs: number;
  /** See {@link Measurement.sendingNs}. Default: the whole window */
  readonly sendingNs?: number;
  readonly sentCount: number;
  /** Requests in flight at the start. */
  readonly openBefore: OpenRequests;
  readonly openAfter: OpenRequests;
  /** Time in flight after the window, of requests that count as ended in it. Default: 0 */
  readonly afterEndNs?: number;
  /** Number of lanes that could have had a request outstanding. */
  readonly laneCount: number;
  /** Whether lanes may be idle: waiting for a schedule, a session's delay, or their turn in a ramp. */
  readonly canLanesWait: boolean;
  readonly health: ClientHealth;
  readonly server?: ServerDelta | undefined;
  readonly gauges?: GaugeReadings | undefined;
}

/** Computes a window's result. Nothing may be added to the tally afterwards. */
export function toMeasurement(tally: WindowTally, frame: WindowFrame): Measurement {
  const durationNs = frame.endNs - frame.startNs;
  const requestCount = tally.latency.count;
  const { completions, samplesOf } = tally.bins.cut(frame.startNs, frame.endNs);
  const firsts = tally.firstBins.cut(frame.startNs, frame.endNs);
  const toSketch = (one: DurationTally, ofBins = samplesOf): Sketch => one.toSketch(one.channel && ofBins(one.channel));
  const { firstResponse, scheduledLatency, sendDelay } = tally;
  const { startNs, endNs, sendingNs = durationNs, sentCount, openBefore, openAfter, afterEndNs = 0 } = frame;
  const { isScheduled, isDecoupled, isStreamed = false } = tally.options;
  const { failedCount, cancelledCount, resentCount, delayedCount, sequenceCount, responseCount } = tally;
  const { betweenCount, betweenSumNs } = tally;
  return defined({
    ...{ startNs, endNs, windowCount: 1, durationNs, sendingNs, isScheduled, isDecoupled, isStreamed },
    ...{ requestCount, failedCount, cancelledCount, resentCount, delayedCount, sentCount },
    openBeforeCount: openBefore.count,
    openAfterCount: openAfter.count,
    inFlightSumNs: tally.outstandingSumNs - openBefore.ageSumNs + openAfter.ageSumNs - afterEndNs,
    ...{ sequenceCount, responseCount, betweenCount, betweenSumNs },
    latency: toSketch(tally.latency),
    firstResponse: firstResponse && toSketch(firstResponse, firsts.samplesOf),
    scheduledLatency: scheduledLatency && toSketch(scheduledLatency),
    sendDelay: sendDelay && toSketch(sendDelay),
    completions,
    sendMeanNs: requestCount === 0 ? 0 : tally.sendSumNs / requestCount,
    receiveMeanNs: requestCount === 0 ? 0 : tally.receiveSumNs / requestCount,
    laneNs: laneNsOf(frame),
    overheadPct: overheadPct(tally, frame),
    health: frame.health,
    server: frame.server,
    gauges: frame.gauges,
    extracted: tally.extracted?.cut(startNs, endNs),
    good: tally.good?.cut(startNs, endNs),
  });
}

/**
 * Returns the overhead. For lanes that always have a request to send: the time without an outstanding request. Otherwise: the time
 * spent sending and receiving.
 */
function overheadPct(tally: WindowTally, frame: WindowFrame): number {
  const laneNs = laneNsOf(frame);
  if (laneNs <= 0) return 0;
  if (frame.canLanesWait) return Math.min(100, (100 * (tally.sendSumNs + tally.receiveSumNs)) / laneNs);
  return Math.max(0, 100 * (1 - tally.outstandingSumNs / laneNs));
}

function laneNsOf({ startNs, endNs, laneCount }: WindowFrame): number {
  return (endNs - startNs) * Math.max(1, laneCount);
}

/** The requests in flight at a moment. */
export interface OpenRequests {
  readonly count: number;
  /** Sum of the times since each request was sent, in nanoseconds. */
  readonly ageSumNs: number;
}

export const NO_OPEN_REQUESTS: OpenRequests = { count: 0, ageSumNs: 0 };

/** Summarizes requests in flight. @param sentNs monotonic send time of each */
export function sumOpenRequests(sentNs: readonly number[], atNs: number): OpenRequests {
  return { count: sentNs.length, ageSumNs: sentNs.reduce((sum, ns) => sum + Math.max(0, atNs - ns), 0) };
}
