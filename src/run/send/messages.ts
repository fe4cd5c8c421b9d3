import type { RecordColumns } from "../../measure/records.ts";
import type { FinishedTimeline } from "../../measure/timeline.ts";
import type { BeginOptions, LevelTokens } from "../../measure/tokens/run-tokens.ts";
import type { TotalledTokens } from "../../measure/tokens/token-totals.ts";
import type { ProgressCounts, TraceEvent } from "../../result/observer.ts";
import type { DelayedRequests, RequestCounts, RunResult } from "../../result/run-result.ts";
import type { Failure } from "../../transport/failure.ts";
import type { BegunWindow, CountOptions, CutWindow, LastWindow } from "../count/window-counter.ts";

/**
 * What a conductor and a sender say to each other. Everything that passes is plain data, and what is asked is answered by a promise, so that
 * a sender may live in another thread or on another host; in the conductor's own thread the messages are calls. A sender handles messages in
 * the order in which they were sent, those sent without a pause without a pause, and replies in that order.
 */

/** A level of the plan's load. The sender prepares the load itself. */
export interface LoadStep {
  /** Index of the phase; 0 for a load without phases. */
  readonly phaseIndex: number;
  /** Concurrency or request rate. */
  readonly level: number;
  /** Number of measurements before it in the phase: random arrivals differ from one to the next. */
  readonly draw: number;
  /** Number of requests of a load that cannot keep more in flight. Absent: no limit. */
  readonly mostRequests?: number;
}

/** Ends a load with the first query that completes both. */
export interface QueryMinimums {
  readonly startNs: number;
  readonly minDurationNs: number;
  readonly leastCount: number;
  /** The requests of a query are sent at once. */
  readonly samplesPerQuery: number;
}

/** Where a sender stands. */
export interface SenderState extends RequestCounts {
  /** Requests that have ended, whether or not they were judged yet. */
  readonly endedCount: number;
  readonly outstanding: number;
  /** Lanes that can have a request outstanding. */
  readonly activeLanes: number;
  /** Number of requests still to send; infinite when time decides. */
  readonly quota: number;
  /** Whether the load still sends requests. */
  readonly isSending: boolean;
  /** Time of the last success; initially the start. */
  readonly lastSuccessNs: number;
  /** Longest latency of a success so far. */
  readonly longestNs: number;
  /** What the load that runs did not send in time. */
  readonly unsent: Unsent;
}

/** What may be awaited of a load. A new wait for a number or a state of requests resolves the previous one. */
export type Moment =
  /** The message has arrived. */
  | { readonly kind: "now" }
  /** The quota is used up. */
  | { readonly kind: "all-sent" }
  /** The quota is used up and nothing is outstanding. */
  | { readonly kind: "finished" }
  /** This number of requests more has ended. */
  | { readonly kind: "more-ended"; readonly count: number }
  /**
   * Every request has ended that was sent before the first end from now on.
   * @param limitNs time from which only the next end is awaited @param hasEnded whether the first end has been, at another sender
   */
  | { readonly kind: "steady"; readonly limitNs: number; readonly hasEnded?: true }
  /** The end of a round of a closed loop, at once for other loads. See {@link untilRoundEnds}. */
  | { readonly kind: "round-ends" };

/** What changes in how requests are sent and counted, in this order. Absent: it stays. */
export interface LoadChange {
  /** A run begins. */
  readonly run?: RunStart;
  /** Requests that are due by then and not sent are skipped. */
  readonly skipsDueNs?: number;
  /** The level that was prepared begins, at once: requests in flight end under it. */
  readonly next?: LevelStart<number>;
  /** Number of requests to send from now on; 0: none but the ends of open sequences. */
  readonly quota?: number;
  /** Another window of tokens follows the last cut. Whether one does is decided after it. */
  readonly resumesTokens?: true;
  /** The data restarts at its first step. */
  readonly rewinds?: boolean;
  /** Whether requests belong to a warm-up: none of them is cancelled on purpose. Nothing is counted from its beginning until the next window. */
  readonly isWarmup?: boolean;
}

/** How a level starts. */
export interface LevelStart<Quota = number | QueryMinimums> {
  /** Maximum number of requests, or what ends the load otherwise. */
  readonly quota: Quota;
  /** Start of a schedule or a ramp, which several senders have in common. Absent: now. */
  readonly atNs?: number;
  /** Number of requests that all senders have sent of the data. Absent: unknown; each continues with its part of the data. */
  readonly firstNumber?: number | undefined;
}

/** What a run measures beside its windows. */
export interface RunStart {
  /** Start of the run, after the rehearsal. */
  readonly startNs: number;
  /** How to measure tokens. Absent: none are measured. */
  readonly tokens?: BeginOptions | undefined;
  /** Whether it has a time line over all its levels. */
  readonly hasTimeline: boolean;
}

/** What a load did not send in time. */
export interface Unsent {
  /** Requests that were due and not sent, and were skipped last. */
  readonly count: number;
  /** Requests delayed by the load's limit of outstanding requests; undefined without a limit. */
  readonly delayed: DelayedRequests | undefined;
}

/** What has ended so far in the current window, and when. */
export interface Drained {
  /** End of the last request that was not cancelled, and send time of the last one to be sent. */
  readonly lastEndNs: number;
  readonly lastSendNs: number;
  /** Number of requests in the current window, including failed ones. */
  readonly collected: number;
}

/** What a sender reports about its connections at the end. */
export type SenderTotals = Pick<
  RunResult,
  "connectionCount" | "resendCount" | "received" | "servers" | "sessions" | "hosts"
>;

/** A sender that is closed. */
export interface ClosedSender {
  readonly totals: SenderTotals;
  /** The time lines over all levels, one for each sender; none without one. */
  readonly timelines: readonly FinishedTimeline[];
}

/** Which tokens are taken: those of the last windows of a level as one, which ends it; or those since the last call for the same tap. */
export type TakenSpan =
  | { readonly kind: "windows"; readonly count: number }
  | { readonly kind: "tap"; readonly tap: number };

/**
 * Sends a plan's load, and counts what ends. Numbers of requests are those of the whole load: each of several senders takes its share of
 * them, see {@link Share}.
 */
export interface LoadSender {
  /**
   * Opens the connections of a level, so that its first requests do not wait for them.
   * @param way "check": opens nothing, and reports a level above the limit of outstanding requests; then sends nothing more. "start": a level can
   * then start at once; a schedule waits for the requests before it. "change": the current level continues until a change to this one
   * @returns whether the limit allows the level from its start. Only the host that sends knows its limits
   */
  prepare(step: LoadStep, way?: "check" | "open" | "start" | "change"): Promise<boolean>;
  /** Starts a level, or changes to another one without a pause. */
  start(step: LoadStep, start: LevelStart): Promise<void>;
  change(change: LoadChange): void;
  /** Least time from the message that starts a schedule to its start, in nanoseconds. Absent: none, because the message is a call. */
  aheadNs?(): number;
  /** Stops sending, except for the ends of open sequences. Resolves when nothing is outstanding. */
  stop(): Promise<void>;
  /** Cancels requests in flight. @param which "unsent": those that wait for a connection. Default: all */
  cancel(message: string, which?: "all" | "unsent"): void;
  /** Fails outstanding requests and closes the connections. @param cancelMessage set: cancel them for this reason instead */
  close(cancelMessage?: string): Promise<ClosedSender>;

  /** Resolves at a moment of the load, with the state then. */
  until(moment: Moment): Promise<SenderState>;
  /** The latest state that the conductor has of a sender, without asking. It may be a moment old, but not older than an earlier reply. */
  progress(): SenderState;
  /** Like `progress`, for a display: it looks at every lane. */
  counts(): ProgressCounts;

  /** Judges and counts what has ended. @param which "judged": only passes the records of what was judged already. Default: all */
  drain(which?: "all" | "judged"): Promise<Drained>;
  /** Begins a window. Requests in flight then are counted when they end. */
  beginWindow(startNs: number, options: CountOptions): Promise<BegunWindow>;
  /** Ends the window and begins the next one. */
  cut(endNs: number, last?: LastWindow): Promise<CutWindow>;
  /** Undefined when no tokens are measured. */
  takeTokens(span: TakenSpan): Promise<LevelTokens | undefined>;
  /** What the tokens of the run add up to since the first call, for a display. Undefined when no tokens are measured. */
  tokenTotals(): Promise<TotalledTokens | undefined>;
}

/** What a sender reports by itself. */
export interface SenderListener {
  /** Receives ended requests in batches, in the columns that the next batch reuses. */
  records(records: RecordColumns, count: number): void;
  /** Receives the values extracted from a successful response. @param atNs when it ended @param group that of the request, if there are groups */
  extracted(values: readonly unknown[], atNs: number, group: number | undefined): void;
  /** @param sentNs start of sending the request */
  failed(failure: Failure, lane: number, sentNs: number): void;
  /** Sending has ended because the load needs more outstanding requests than allowed. @param wanted their number, for a load that was not begun */
  limited(wanted: number | undefined): void;
  /** Receives trace events, where a sender elsewhere has them. */
  traced?(event: TraceEvent): void;
  /** The run cannot continue. */
  broken(error: unknown): void;
}
