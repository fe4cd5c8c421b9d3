import type { GpuTally } from "./gpu-tally.ts";
import { LatencyTally } from "./latency-tally.ts";
import type { OpenRequests } from "./open-requests.ts";
import { RECORD_DELAYED, RECORD_FAILED, RECORD_GIVEN_UP, RECORD_SEQUENCE_END, type RecordColumns } from "./records.ts";
import type { ServerDelta } from "./server-delta.ts";

/** What was measured between two moments. */

/**
 * Health of this tool while it measured: what it took itself, and whether that spoiled the measurement.
 *
 * The loop lag is how late the measuring thread comes to something that happens at a moment of its own, such as bytes that arrive: the wait for a
 * core once the thread is woken, and the callbacks that come first. A timer samples it every 20 ms, and a stall counts for each sample that it
 * swallowed. It is an estimate of how late answers are read, for reads get no better: the system keeps the moment of arrival for `recvmsg` alone,
 * which no runtime reads sockets with. Answers that come in bursts are read later than it says, since each waits for those before; what a timer
 * cannot tell (0.1 ms on Bun, 1 ms on Node and Deno) is not in it. `test/bench/wire` holds it against a capture of the network.
 */
export interface ClientHealth {
  /** CPU time of the measuring thread over wall time; 1 is a core fully busy. */
  readonly cpuRatio: number;
  /** Largest loop lag, in nanoseconds. */
  readonly loopLagMaxNs: number;
  /** Mean loop lag, in nanoseconds. */
  readonly loopLagMeanNs: number;
  /** 99th percentile of the loop lag, in nanoseconds; of merged windows the worst one's. Absent below 100 samples, which is 2 s. */
  readonly loopLagP99Ns?: number | undefined;
  /** Share of the time in which the measuring thread had work and no core, 0 to 1. Absent where the system does not count it: only Linux does. */
  readonly coreWaitRatio?: number | undefined;
}

/** A measured stretch of time: a window, or several merged. Times are monotonic nanoseconds. */
export interface WindowResult {
  readonly startNs: number;
  readonly endNs: number;
  /** Sum of the windows' lengths; `endNs - startNs` for one window. */
  readonly durationNs: number;
  /** Successful requests that ended in the window. */
  readonly requestCount: number;
  /** Failed requests that ended in the window. */
  readonly failedCount: number;
  /** Requests that this client gave up in the window; they count neither as successful nor as failed. */
  readonly cancelledCount: number;
  /** Requests sent more than the tolerance later than they were due. */
  readonly delayedCount: number;
  /** Requests sent in the window, whether they ended in it or not. */
  readonly sentCount: number;
  /** Requests in flight when the window began: with `sentCount` they are those that ended in it and `openAfterCount`. */
  readonly openBeforeCount: number;
  /** Requests in flight when the window ended. */
  readonly openAfterCount: number;
  /** Time that requests were in flight within the window, summed over all of them, failed ones included. */
  readonly inFlightSumNs: number;
  /** Successful requests that ended a sequence; 0 where there are none. */
  readonly sequenceCount: number;
  /** Responses with content of the successful requests. */
  readonly responseCount: number;
  /** From the actual send to the end of the response. */
  readonly latency: LatencyTally;
  /** From the actual send to the first response; the same as `latency` where a request has one response. */
  readonly firstResponse: LatencyTally;
  /** From the moment the request was due; the same as `latency` where nothing was scheduled. */
  readonly scheduledLatency: LatencyTally;
  /** How late requests were sent. */
  readonly sendDelay: LatencyTally;
  /** Mean time spent writing a request, in nanoseconds. */
  readonly sendMeanNs: number;
  /** Mean time spent reading and decoding a response, in nanoseconds. */
  readonly receiveMeanNs: number;
  /** Share of time in which a lane was neither waiting for the server nor for its time to send, in percent. */
  readonly overheadPct: number;
  readonly health: ClientHealth;
  /** Change of the server's own counters; absent when it has none. */
  readonly server: ServerDelta | undefined;
  /** What was read of the server's GPUs; absent when nothing is read of them. */
  readonly gpu?: GpuTally | undefined;
}

/** What of a run decides how its records are counted. */
export interface TallyOptions {
  /** Requests are due at given times. */
  readonly isScheduled: boolean;
  /** The time from a response's first to its last byte counts as receiving (HTTP), not only decoding. */
  readonly countsReading: boolean;
  /** A request may have several responses. */
  readonly isDecoupled: boolean;
}

/** Gathers the records of one window. */
export class WindowTally {
  readonly latency = new LatencyTally();
  readonly firstResponse: LatencyTally;
  readonly scheduledLatency: LatencyTally;
  readonly sendDelay = new LatencyTally();
  failedCount = 0;
  cancelledCount = 0;
  delayedCount = 0;
  sequenceCount = 0;
  responseCount = 0;
  sendSumNs = 0;
  receiveSumNs = 0;
  /** Time lanes spent with a request outstanding, failed ones included. */
  outstandingSumNs = 0;
  private readonly options: TallyOptions;
  private readonly latencies = new Float64Array(1024);
  private readonly firsts = new Float64Array(1024);
  private readonly scheduled = new Float64Array(1024);
  private readonly delays = new Float64Array(1024);

  constructor(options: TallyOptions) {
    this.options = options;
    this.firstResponse = options.isDecoupled ? new LatencyTally() : this.latency;
    this.scheduledLatency = options.isScheduled ? new LatencyTally() : this.latency;
  }

  add(records: RecordColumns, count: number): void {
    for (let start = 0; start < count; start += 1024) this.addChunk(records, start, Math.min(count, start + 1024));
  }

  private addChunk(records: RecordColumns, start: number, end: number): void {
    const { sendStartNs, sendEndNs, firstByteNs, endNs, overNs, decodeNs, intendedSendNs, responseCount, flags } =
      records;
    const { countsReading, isDecoupled, isScheduled } = this.options;
    let used = 0;
    for (let row = start; row < end; row++) {
      const flag = flags[row] as number;
      const sentNs = sendStartNs[row] as number;
      const latencyNs = (endNs[row] as number) - sentNs;
      this.outstandingSumNs += (overNs[row] as number) - sentNs;
      if ((flag & RECORD_FAILED) !== 0) {
        if ((flag & RECORD_GIVEN_UP) === 0) this.failedCount++;
        else this.cancelledCount++;
        continue;
      }
      if ((flag & RECORD_DELAYED) !== 0) this.delayedCount++;
      if ((flag & RECORD_SEQUENCE_END) !== 0) this.sequenceCount++;
      this.responseCount += responseCount[row] as number;
      this.sendSumNs += (sendEndNs[row] as number) - sentNs;
      this.receiveSumNs +=
        (decodeNs[row] as number) + (countsReading ? (endNs[row] as number) - (firstByteNs[row] as number) : 0);
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

/** What a window needs besides its records. */
export interface WindowFrame {
  readonly startNs: number;
  readonly endNs: number;
  readonly sentCount: number;
  /** Requests in flight at the start and at the end. */
  readonly openBefore: OpenRequests;
  readonly openAfter: OpenRequests;
  /** Time that requests which count as ended in the window were in flight after it. Default: 0. */
  readonly afterEndNs?: number;
  /** Lanes that could have had a request outstanding. */
  readonly laneCount: number;
  /** Lanes may have nothing to send: they wait for a schedule, for the pause of a session, or for their turn in a ramp. */
  readonly canLanesWait: boolean;
  readonly health: ClientHealth;
  readonly server: ServerDelta | undefined;
  readonly gpu?: GpuTally | undefined;
}

/** Closes a window. */
export function toWindowResult(tally: WindowTally, frame: WindowFrame): WindowResult {
  const durationNs = frame.endNs - frame.startNs;
  const requestCount = tally.latency.count;
  return {
    startNs: frame.startNs,
    endNs: frame.endNs,
    durationNs,
    requestCount,
    failedCount: tally.failedCount,
    cancelledCount: tally.cancelledCount,
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
    sendMeanNs: requestCount === 0 ? 0 : tally.sendSumNs / requestCount,
    receiveMeanNs: requestCount === 0 ? 0 : tally.receiveSumNs / requestCount,
    overheadPct: overheadPct(tally, frame, durationNs),
    health: frame.health,
    server: frame.server,
    gpu: frame.gpu,
  };
}

/** Where lanes always have a request to send: the time they had nothing outstanding. Elsewhere: the time spent sending and receiving. */
function overheadPct(tally: WindowTally, frame: WindowFrame, durationNs: number): number {
  const laneNs = durationNs * Math.max(1, frame.laneCount);
  if (frame.canLanesWait) return Math.min(100, (100 * (tally.sendSumNs + tally.receiveSumNs)) / laneNs);
  return Math.max(0, 100 * (1 - tally.outstandingSumNs / laneNs));
}
