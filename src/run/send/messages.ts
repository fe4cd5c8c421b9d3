import type { RecordColumns } from "../../measure/records.ts";
import type { FinishedTimeline } from "../../measure/timeline.ts";
import type { BeginOptions, LevelTokens } from "../../measure/tokens/run-tokens.ts";
import type { TotalledTokens } from "../../measure/tokens/token-totals.ts";
import type { ProgressCounts, TraceEvent } from "../../result/observer.ts";
import type { DelayedRequests, RequestCounts, RunResult } from "../../result/run-result.ts";
import type { Failure } from "../../transport/failure.ts";
import type { BegunWindow, CountOptions, CutWindow, LastWindow } from "../count/window-counter.ts";

/**
 * Messages between a conductor and a sender. All messages are plain data, and replies are promises, so that a sender may run in another
 * thread or on another host; in the conductor's thread the messages are calls. A sender handles and answers messages in the order in which
 * they were sent. Messages sent without a pause are handled without a pause.
 */

/** A level of the plan's load. The sender prepares the load itself. */
export interface LoadStep {
  /** Index of the phase; 0 for a load without phases. */
  readonly phaseIndex: number;
  /** Concurrency or request rate. */
  readonly level: number;
  /** Number of earlier measurements in the phase: random arrivals differ from one to the next. */
  readonly draw: number;
  /** Maximum number of requests in flight, for a load of that many requests in all. Absent: no limit. */
  readonly mostRequests?: number;
}

/** Ends a load with the first query that reaches both the duration and the count. */
export interface QueryMinimums {
  readonly startNs: number;
  readonly minDurationNs: number;
  readonly leastCount: number;
  /** Number of requests of a query, which are sent together. */
  readonly samplesPerQuery: number;
}

/** State of a sender. */
export interface SenderState extends RequestCounts {
  /** Number of requests that have ended, whether or not they were judged yet. */
  readonly endedCount: number;
  readonly outstanding: number;
  /** Number of lanes that can have an outstanding request. */
  readonly activeLanes: number;
  /** Number of requests left to send; infinite when the load is limited by time. */
  readonly quota: number;
  /** Whether the load still sends requests. */
  readonly isSending: boolean;
  /** Time of the last success; initially the start. */
  readonly lastSuccessNs: number;
  /** Longest latency of a successful request so far. */
  readonly longestNs: number;
  /** Requests that the current load did not send in time. */
  readonly unsent: Unsent;
}

/** A moment of a load that can be awaited. A new wait for a number or a state of requests resolves the previous one. */
export type Moment =
  /** The message has arrived. */
  | { readonly kind: "now" }
  /** The quota is used up. */
  | { readonly kind: "all-sent" }
  /** The quota is used up and nothing is outstanding. */
  | { readonly kind: "finished" }
  /** `count` more requests have ended. */
  | { readonly kind: "more-ended"; readonly count: number }
  /**
   * Every request has ended that was sent before the first response from now on, see {@link untilSteady}.
   * @param limitNs time from which only the next response is awaited @param first the first response, at another sender, and the begin of
   * the wait for it. Absent: it is awaited
   */
  | {
      readonly kind: "steady";
      readonly limitNs: number;
      readonly first?: { readonly beganNs: number; readonly endNs: number };
    }
  /** The end of a round of a closed loop; for other loads, now. See {@link untilRoundEnds}. */
  | { readonly kind: "round-ends" };

/** Changes to how requests are sent and counted, applied in this order. Absent fields change nothing. */
export interface LoadChange {
  /** A run begins. */
  readonly run?: RunStart;
  /** Skips requests that are due by then and not sent. */
  readonly skipsDueNs?: number;
  /** Starts the prepared level at once: requests in flight end under it. */
  readonly next?: LevelStart<number>;
  /** Number of requests to send from now on; 0: only the ends of open sequences. */
  readonly quota?: number;
  /** See {@link LevelStart}. */
  readonly endNs?: number;
  /** Another window of tokens follows the last cut, which was not known at the cut. */
  readonly resumesTokens?: true;
  /** The data restarts at its first step. */
  readonly rewinds?: boolean;
  /**
   * Whether requests belong to a warm-up: none of them is cancelled on purpose. From its start, nothing is counted until the next window.
   */
  readonly isWarmup?: boolean;
}

/** Start of a level. */
export interface LevelStart<Quota = number | QueryMinimums> {
  /** Maximum number of requests, or other end conditions of the load. */
  readonly quota: Quota;
  /** Common start of a schedule or a ramp at several senders. Absent: now. */
  readonly atNs?: number;
  /**
   * End of a schedule: what is due from then on is not sent, and no request or session begins at a sender that stood still over it. Absent: it ends when its
   * quota becomes 0.
   */
  readonly endNs?: number | undefined;
  /**
   * Number of requests of the data that all senders have sent. Absent: unknown; each sender continues with its part of the
   * data.
   */
  readonly firstNumber?: number | undefined;
}

/** Measurements of a run beside its windows. */
export interface RunStart {
  /** Start of the run, after the rehearsal. */
  readonly startNs: number;
  /** Options for measuring tokens. Absent: none are measured. */
  readonly tokens?: BeginOptions | undefined;
  /** Whether the run has a time line over all its levels. */
  readonly hasTimeline: boolean;
}

/** Requests that a load did not send in time. */
export interface Unsent {
  /** Number of requests that were due and not sent, and were skipped last. */
  readonly count: number;
  /** Requests delayed by the load's limit of outstanding requests; undefined without a limit. */
  readonly delayed: DelayedRequests | undefined;
}

/** Requests that have ended so far in the current window. */
export interface Drained {
  /** End of the last request that was not cancelled, and latest send time of these requests. */
  readonly lastEndNs: number;
  readonly lastSendNs: number;
  /** Number of requests in the current window, including failed ones. */
  readonly collected: number;
}

/** A sender's report about its connections at the end of the run. */
export type SenderTotals = Pick<
  RunResult,
  "connectionCount" | "slotCount" | "resendCount" | "received" | "servers" | "sessions" | "hosts"
>;

/** A sender that is closed. */
export interface ClosedSender {
  readonly totals: SenderTotals;
  /** The time lines over all levels, one for each sender; empty without a time line. */
  readonly timelines: readonly FinishedTimeline[];
}

/**
 * Span of the tokens to take: the last windows of a level as one, which ends the level; or the time since the last call for the same
 * tap.
 */
export type TakenSpan =
  | { readonly kind: "windows"; readonly count: number }
  | { readonly kind: "tap"; readonly tap: number };

/**
 * Sends a plan's load, and counts ended requests. Numbers of requests are those of the whole load: each of several senders takes its
 * share of them, see {@link Share}.
 */
export interface LoadSender {
  /**
   * Opens the connections of a level, so that its first requests do not wait for them.
   * @param way "check": opens nothing, and reports a level above the limit of outstanding requests, after which nothing more is sent.
   * "start": makes a level able to start at once; a schedule waits for earlier requests. "change": the current level continues until a
   * change to this one
   * @returns whether the limit allows the level from its start. Only the host that sends knows its limits
   */
  prepare(step: LoadStep, way?: "check" | "open" | "start" | "change"): Promise<boolean>;
  /** Starts a level, or changes to another one without a pause. */
  start(step: LoadStep, start: LevelStart): Promise<void>;
  change(change: LoadChange): void;
  /**
   * Minimum time from the message that starts a schedule to its start, in nanoseconds. Absent: 0, because the message is a call.
   */
  aheadNs?(): number;
  /** Stops sending, except for the ends of open sequences. Resolves when nothing is outstanding. */
  stop(): Promise<void>;
  /** Cancels requests in flight. @param which "unsent": those that wait for a connection. Default: all */
  cancel(message: string, which?: "all" | "unsent"): void;
  /**
   * Fails outstanding requests and closes the connections. @param cancelMessage reason to cancel them instead of failing
   * them. Default: they fail
   */
  close(cancelMessage?: string): Promise<ClosedSender>;

  /** Resolves at a moment of the load, with the state at that moment. */
  until(moment: Moment): Promise<SenderState>;
  /** The conductor's latest state of a sender, without a query. It may be slightly outdated, but is not older than an earlier reply. */
  progress(): SenderState;
  /** Like `progress`, for a display, and more expensive: it visits every lane. */
  counts(): ProgressCounts;

  /**
   * Judges and counts ended requests. @param which "judged": only passes on the records of requests that were already judged.
   * Default: all
   */
  drain(which?: "all" | "judged"): Promise<Drained>;
  /** Begins a window. Requests in flight then are counted when they end. */
  beginWindow(startNs: number, options: CountOptions): Promise<BegunWindow>;
  /** Ends the window and begins the next one. */
  cut(endNs: number, last?: LastWindow): Promise<CutWindow>;
  /** Takes measured tokens. Undefined when no tokens are measured. */
  takeTokens(span: TakenSpan): Promise<LevelTokens | undefined>;
  /** Returns the totals of the run's tokens since the first call, for a display. Undefined when no tokens are measured. */
  tokenTotals(): Promise<TotalledTokens | undefined>;
}

/** Events of a sender. */
export interface SenderListener {
  /** Receives ended requests in batches, in the columns that the next batch reuses. */
  records(records: RecordColumns, count: number): void;
  /**
   * Receives the values extracted from a successful response. @param atNs its end time @param group group of the request, if there are
   * groups
   */
  extracted(values: readonly unknown[], atNs: number, group: number | undefined): void;
  /** @param sentNs start of sending the request */
  failed(failure: Failure, lane: number, sentNs: number): void;
  /**
   * Sending has ended because the load needs more outstanding requests than allowed. @param wanted their number, for a load that was not
   * started
   */
  limited(wanted: number | undefined): void;
  /** Receives trace events of a remote sender. */
  traced?(event: TraceEvent): void;
  /** The run cannot continue. */
  broken(error: unknown): void;
}
