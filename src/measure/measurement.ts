import type { Tags } from "../plan/split/tags.ts";
import { ExtractedTally } from "./extracted-tally.ts";
import type { GpuTally } from "./gpu-tally.ts";
import { type CompletionCounts, CompletionTally } from "./intervals/throughput.ts";
import { LatencyTally } from "./latency-tally.ts";
import type { OpenRequests } from "./open-requests.ts";
import {
  RECORD_CANCELLED,
  RECORD_DELAYED,
  RECORD_FAILED,
  RECORD_RESENT,
  RECORD_SEQUENCE_END,
  type RecordColumns,
} from "./records.ts";
import type { ServerDelta } from "./server-delta.ts";

/**
 * Resource use and delays of the client during a measurement.
 *
 * The loop lag is the delay until the measuring thread handles an event, such as arriving bytes: the wait for a core after waking up, plus
 * callbacks that run first. A timer samples it every 20 ms; a stall counts once for each sample that it delays. It is an average over time,
 * not over responses: a long stall delays only the few responses in flight. The timer's resolution (0.1 ms on Bun, 1 ms on Node and Deno) is
 * not included.
 */
export interface ClientHealth {
  /** CPU time of the measuring thread divided by wall time; 1 is one full core. */
  readonly cpuRatio: number;
  /** Maximum loop lag, in nanoseconds. */
  readonly loopLagMaxNs: number;
  /** Mean loop lag, in nanoseconds. */
  readonly loopLagMeanNs: number;
  /** 99th percentile of the loop lag, in nanoseconds; the maximum for merged windows. Absent below 100 samples (2 s). */
  readonly loopLagP99Ns?: number | undefined;
  /** Ratio of time in which the measuring thread waited for a core, 0 to 1. Linux only. */
  readonly coreWaitRatio?: number | undefined;
}

/** Windows that follow each other, by their numbers in the run. */
export interface WindowNumbers {
  readonly first: number;
  readonly last: number;
}

/** The measurement of a window, or of several merged windows. Times are monotonic nanoseconds. */
export interface Measurement {
  readonly startNs: number;
  readonly endNs: number;
  /** Numbers of the first and the last window among those of the run, from 1. Absent for a group of requests. */
  readonly numbers?: WindowNumbers | undefined;
  /** Sum of the windows' lengths; `endNs - startNs` for one window. */
  readonly durationNs: number;
  /** Sum of the windows' times in which requests were due, which the answers to the last requests do not extend. */
  readonly sendingNs: number;
  /** Whether requests are due at given times. */
  readonly isScheduled: boolean;
  /** Whether a request may have several responses. */
  readonly isDecoupled: boolean;
  /** Successful requests that ended in the window. */
  readonly requestCount: number;
  /** Failed requests that ended in the window. */
  readonly failedCount: number;
  /** Requests that this client cancelled in the window. They count neither as successful nor as failed. */
  readonly cancelledCount: number;
  /** Requests that ended in the window, whatever their outcome, and that were sent again over a new connection. */
  readonly resentCount: number;
  /** Requests sent later than due by more than the tolerance. */
  readonly delayedCount: number;
  /** Requests sent in the window, whether or not they ended in it. */
  readonly sentCount: number;
  /** Requests in flight at the start. This plus `sentCount` equals the requests that ended plus `openAfterCount`. */
  readonly openBeforeCount: number;
  /** Requests in flight at the end. */
  readonly openAfterCount: number;
  /** Sum of the times that requests, including failed ones, were in flight in the window. */
  readonly inFlightSumNs: number;
  /** Successful requests that ended a sequence; 0 without sequences. */
  readonly sequenceCount: number;
  /** Responses with content to successful requests. */
  readonly responseCount: number;
  /** From the actual send to the end of the response. */
  readonly latency: LatencyTally;
  /** From the actual send to the first response; the same object as `latency` when a request has one response. */
  readonly firstResponse: LatencyTally;
  /** From the time when the request was due; the same object as `latency` without a schedule. */
  readonly scheduledLatency: LatencyTally;
  /** How late requests were sent. */
  readonly sendDelay: LatencyTally;
  /** Requests by the time when they ended, for the intervals of throughput and of the error rate; absent when not kept. */
  readonly completions?: CompletionCounts | undefined;
  /** Mean time to write a request, in nanoseconds. */
  readonly sendMeanNs: number;
  /** Mean time to read and decode a response, in nanoseconds. */
  readonly receiveMeanNs: number;
  /** Percentage of time in which a lane waited neither for the server nor for its next send. */
  readonly overheadPct: number;
  readonly health: ClientHealth;
  /** Increase of the server's counters; undefined when the server has none. */
  readonly server: ServerDelta | undefined;
  /** Readings of the server's GPUs; absent when not scraped. */
  readonly gpu?: GpuTally | undefined;
  /** Values extracted from the answers of successful requests; absent when the target extracts none. */
  readonly extracted?: ExtractedTally | undefined;
  /** The same by group of requests, which together are the window; absent without groups. */
  readonly groups?: readonly MeasuredGroup[] | undefined;
  /** Increase of the counters of each member's server, by the member's name; absent without a mix. */
  readonly memberServers?: Readonly<Record<string, ServerDelta | undefined>> | undefined;
}

/** What a group of requests contributed to a window. The client's health and overhead are those of the whole window. */
export interface MeasuredGroup {
  readonly tags: Tags;
  readonly window: Measurement;
}

/** Properties of a run that decide how records are counted. */
export interface TallyOptions {
  /** Whether requests are due at given times. */
  readonly isScheduled: boolean;
  /** Whether the time from the first to the last byte counts as receiving (HTTP), not only decoding. */
  readonly countsReading: boolean;
  /** Whether a request may have several responses. */
  readonly isDecoupled: boolean;
  /** Names of the values that the target extracts. Default: none. */
  readonly extractedNames?: readonly string[] | undefined;
}

const ALL_GROUPS = -1;

/** Aggregates the records of one window. */
export class WindowTally {
  readonly latency = new LatencyTally();
  readonly firstResponse: LatencyTally;
  readonly scheduledLatency: LatencyTally;
  readonly sendDelay = new LatencyTally();
  readonly completions = new CompletionTally();
  failedCount = 0;
  cancelledCount = 0;
  resentCount = 0;
  delayedCount = 0;
  sequenceCount = 0;
  responseCount = 0;
  sendSumNs = 0;
  receiveSumNs = 0;
  /** Time that lanes had a request outstanding, including failed ones. */
  outstandingSumNs = 0;
  /** Undefined when the target extracts no values. */
  readonly extracted: ExtractedTally | undefined;
  readonly options: TallyOptions;
  private readonly latencies = new Float64Array(1024);
  private readonly firsts = new Float64Array(1024);
  private readonly scheduled = new Float64Array(1024);
  private readonly delays = new Float64Array(1024);

  constructor(options: TallyOptions) {
    this.options = options;
    const { extractedNames = [] } = options;
    this.extracted = extractedNames.length === 0 ? undefined : new ExtractedTally(extractedNames);
    this.firstResponse = options.isDecoupled ? new LatencyTally() : this.latency;
    this.scheduledLatency = options.isScheduled ? new LatencyTally() : this.latency;
  }

  /** @param group only the records of this group. Default: all */
  add(records: RecordColumns, count: number, group = ALL_GROUPS): void {
    for (let start = 0; start < count; start += 1024)
      this.addChunk(records, start, Math.min(count, start + 1024), group);
  }

  private addChunk(records: RecordColumns, start: number, end: number, group: number): void {
    const { sendStartNs, sendEndNs, firstByteNs, endNs, overNs, decodeNs, intendedSendNs, responseCount, flags } =
      records;
    const { countsReading, isDecoupled, isScheduled } = this.options;
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
          this.completions.addFailed(overNs[row] as number);
        } else this.cancelledCount++;
        continue;
      }
      if ((flag & RECORD_DELAYED) !== 0) this.delayedCount++;
      if ((flag & RECORD_SEQUENCE_END) !== 0) this.sequenceCount++;
      this.responseCount += responseCount[row] as number;
      this.sendSumNs += (sendEndNs[row] as number) - sentNs;
      this.receiveSumNs +=
        (decodeNs[row] as number) + (countsReading ? (endNs[row] as number) - (firstByteNs[row] as number) : 0);
      this.completions.add(endNs[row] as number);
      this.latencies[used] = latencyNs;
      this.firsts[used] = (firstByteNs[row] as number) - sentNs;
      this.scheduled[used] = (endNs[row] as number) - (intendedSendNs[row] as number);
      this.delays[used] = Math.max(0, sentNs - (intendedSendNs[row] as number));
      used++;
    }
    this.latency.addAll(this.latencies, 0, used);
    if (isDecoupled) this.firstResponse.addAll(this.firsts, 0, used);
    if (!isScheduled) return;
    this.scheduledLatency.addAll(this.scheduled, 0, used);
    this.sendDelay.addAll(this.delays, 0, used);
  }
}

/** The data of a window besides its records. */
export interface WindowFrame {
  readonly startNs: number;
  readonly endNs: number;
  /** See {@link Measurement.sendingNs}. Default: the whole window. */
  readonly sendingNs?: number;
  readonly sentCount: number;
  /** Requests in flight at the start. */
  readonly openBefore: OpenRequests;
  readonly openAfter: OpenRequests;
  /** Time in flight after the window of requests that count as ended in it. Default: 0. */
  readonly afterEndNs?: number;
  /** Number of lanes that could have had a request outstanding. */
  readonly laneCount: number;
  /** Whether lanes may be idle: waiting for a schedule, a session's delay, or their turn in a ramp. */
  readonly canLanesWait: boolean;
  readonly health: ClientHealth;
  readonly server: ServerDelta | undefined;
  readonly gpu?: GpuTally | undefined;
}

/** Computes a window's result. */
export function toMeasurement(tally: WindowTally, frame: WindowFrame): Measurement {
  const durationNs = frame.endNs - frame.startNs;
  const requestCount = tally.latency.count;
  return {
    startNs: frame.startNs,
    endNs: frame.endNs,
    durationNs,
    sendingNs: frame.sendingNs ?? durationNs,
    isScheduled: tally.options.isScheduled,
    isDecoupled: tally.options.isDecoupled,
    requestCount,
    failedCount: tally.failedCount,
    cancelledCount: tally.cancelledCount,
    resentCount: tally.resentCount,
    delayedCount: tally.delayedCount,
    sentCount: frame.sentCount,
    openBeforeCount: frame.openBefore.count,
    openAfterCount: frame.openAfter.count,
    inFlightSumNs:
      tally.outstandingSumNs - frame.openBefore.ageSumNs + frame.openAfter.ageSumNs - (frame.afterEndNs ?? 0),
    sequenceCount: tally.sequenceCount,
    responseCount: tally.responseCount,
    latency: tally.latency,
    firstResponse: tally.firstResponse,
    scheduledLatency: tally.scheduledLatency,
    sendDelay: tally.sendDelay,
    completions: tally.completions.between(frame.startNs, frame.endNs),
    sendMeanNs: requestCount === 0 ? 0 : tally.sendSumNs / requestCount,
    receiveMeanNs: requestCount === 0 ? 0 : tally.receiveSumNs / requestCount,
    overheadPct: overheadPct(tally, frame, durationNs),
    health: frame.health,
    server: frame.server,
    gpu: frame.gpu,
    ...(tally.extracted === undefined ? {} : { extracted: tally.extracted }),
  };
}

/**
 * For lanes that always have a request to send: the time without an outstanding request. Otherwise: the time spent sending and receiving.
 */
function overheadPct(tally: WindowTally, frame: WindowFrame, durationNs: number): number {
  const laneNs = durationNs * Math.max(1, frame.laneCount);
  if (frame.canLanesWait) return Math.min(100, (100 * (tally.sendSumNs + tally.receiveSumNs)) / laneNs);
  return Math.max(0, 100 * (1 - tally.outstandingSumNs / laneNs));
}
