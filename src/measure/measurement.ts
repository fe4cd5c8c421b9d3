import type { Tags } from "../plan/groups/tags.ts";
import { defined } from "../plan/objects.ts";
import type { CompletionGap } from "./completion-gaps.ts";
import type { Extracted } from "./extracted-tally.ts";
import type { GaugeReadings } from "./gauge-readings.ts";
import type { GoodRequests } from "./good-requests.ts";
import type { CompletionBins } from "./intervals/time-bins.ts";
import type { ServerDelta } from "./server-delta.ts";
import { EMPTY_SKETCH, type Sketch } from "./sketch.ts";
import type { TokenMeasurement } from "./tokens/token-measurement.ts";

/**
 * Resource use and delays of the client during a measurement.
 *
 * The loop lag is the delay until the measuring thread handles an event, such as arriving bytes: the wait for a core after waking up, plus
 * callbacks that run first. A timer samples it every 20 ms; a stall counts once for each sample that it delays. It is a mean over time,
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

/** Consecutive windows, by their numbers in the run. */
interface WindowNumbers {
  readonly first: number;
  readonly last: number;
}

/**
 * The measurement of a window, or of several joined ones: `mergeInTime`, `joinParallel`. Plain data: it survives
 * `structuredClone` and JSON. Times are monotonic nanoseconds, and the values of sketches are nanoseconds.
 */
export interface Measurement {
  readonly startNs: number;
  readonly endNs: number;
  /** Numbers of the first and last window in the run, from 1. Absent for a group of requests. */
  readonly numbers?: WindowNumbers;
  readonly windowCount: number;
  /** Sum of the windows' lengths; `endNs - startNs` for one window. */
  readonly durationNs: number;
  /**
   * Sum of the times in which requests were due, over the windows. Neither the responses to the last requests nor a late end of
   * the window extend it. 0 if fewer than two requests of a load that begins with a request were due at different times: see
   * `sendingNsOf`.
   */
  readonly sendingNs: number;
  /** Whether requests are due at given times. */
  readonly isScheduled: boolean;
  /** Whether a request may have several responses. */
  readonly isDecoupled: boolean;
  /** Whether all responses whose tokens are measured are streamed. */
  readonly isStreamed: boolean;
  /** Successful requests that ended in the window. */
  readonly requestCount: number;
  readonly failedCount: number;
  /** Requests that this client cancelled in the window. They count neither as successful nor as failed. */
  readonly cancelledCount: number;
  /** Requests with any outcome that ended in the window and were sent again over a new connection. */
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
  /** Number of pairs of consecutive responses to a request, and the sum of the times between them. */
  readonly betweenCount: number;
  readonly betweenSumNs: number;
  /** Times from the actual send to the end of the response. */
  readonly latency: Sketch;
  /** Times from the actual send to the first response, for requests that have one. Absent unless `isDecoupled`: see {@link latencyOf}. */
  readonly firstResponse?: Sketch;
  /** Times from the moment at which the request was due. Absent unless `isScheduled`: see {@link latencyOf}. */
  readonly scheduledLatency?: Sketch;
  /** Delay of sends after the due time. Absent unless `isScheduled`: see {@link sendDelayOf}. */
  readonly sendDelay?: Sketch;
  /** Requests by the time at which they ended, for the intervals of throughput and error rate; absent if not kept. */
  readonly completions?: CompletionBins;
  /** Mean time to write a request, in nanoseconds. */
  readonly sendMeanNs: number;
  /** Mean time to read and decode a response, in nanoseconds. */
  readonly receiveMeanNs: number;
  /** Sum of the times in which lanes could have had a request outstanding. Groups of requests share the lanes equally. */
  readonly laneNs: number;
  /** Percentage of time in which a lane waited neither for the server nor for its next send. */
  readonly overheadPct: number;
  readonly health: ClientHealth;
  /** Increase of the server's counters; absent if the server has none. */
  readonly server?: ServerDelta;
  /** Readings of the server's metrics page; absent if not scraped. */
  readonly gauges?: GaugeReadings;
  /** Values extracted from the responses of successful requests, by name; absent if the target extracts none. */
  readonly extracted?: readonly Extracted[];
  /** Requests that meet limits on times of all requests, for each such goodput; absent if the plan judges none. */
  readonly good?: readonly GoodRequests[];
  /** Token metrics of the responses; absent if they are not measured. */
  readonly tokens?: TokenMeasurement;
  /** Times in which nothing ended for much longer than usual, in nanoseconds since the start of the run. Absent: none were found. */
  readonly gaps?: readonly CompletionGap[];
  /** The measurements of the groups of requests that make up the window; absent without groups. */
  readonly groups?: readonly MeasuredGroup[];
  /** Increase of the server's counters for each member of a mix whose server has some, by the member's name; absent without a mix. */
  readonly memberServers?: Readonly<Record<string, ServerDelta>>;
}

/**
 * Returns latencies of a measurement. If a request has one response, that is the first one; without a schedule, a request is
 * due when it is sent.
 */
export function latencyOf(measurement: Measurement, of: "latency" | "firstResponse" | "scheduledLatency"): Sketch {
  return measurement[of] ?? measurement.latency;
}

/** Returns the delays of sends; empty without a schedule. */
export function sendDelayOf({ sendDelay = EMPTY_SKETCH }: Measurement): Sketch {
  return sendDelay;
}

/** A group's share of a window. The client's health and overhead are those of the whole window. */
export interface MeasuredGroup {
  readonly tags: Tags;
  readonly window: Measurement;
}

/** Token metrics of a window, which are measured in a separate thread. */
export interface WindowTokens {
  readonly tokens: TokenMeasurement;
  /** Token metrics by group of requests; undefined for a group whose tokens are not measured. Absent without groups. */
  readonly groupTokens?: readonly (TokenMeasurement | undefined)[];
}

/** Returns a window with its token metrics. @param taken undefined if they are not measured */
export function withTokens(window: Measurement, taken: WindowTokens | undefined): Measurement {
  if (taken === undefined) return window;
  const groups = window.groups?.map((group, at): MeasuredGroup => {
    const tokens = taken.groupTokens?.[at];
    return tokens === undefined ? group : { ...group, window: { ...group.window, tokens } };
  });
  return { ...window, tokens: taken.tokens, ...defined({ groups }) };
}
