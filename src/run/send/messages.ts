import type { CompletionGap } from "../../measure/completion-gaps.ts";
import type { MlperfSample } from "../../measure/mlperf/mlperf-tally.ts";
import type { RecordColumns } from "../../measure/records.ts";
import type { Sketch } from "../../measure/sketch.ts";
import type { FinishedTimeline } from "../../measure/timeline.ts";
import type { BeginOptions, LevelTokens } from "../../measure/tokens/run-tokens.ts";
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
}

/** The latest counts that the conductor has of a sender, without asking. They may be a moment old, but not older than an earlier reply. */
export interface SenderProgress {
  readonly sentCount: number;
  readonly outstanding: number;
  readonly completedCount: number;
  readonly failedCount: number;
  /** Number of requests still to send; infinite when time decides. */
  readonly quota: number;
  /** Whether the load still sends requests. */
  readonly isSending: boolean;
  /** Time of the last success; initially the start. */
  readonly lastSuccessNs: number;
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

/**
 * Sends a plan's load, and counts what ends. Numbers of requests are those of the whole load: each of several senders takes its share of
 * them, see {@link Share}.
 */
export interface LoadSender {
  /** Sends requests to an in-process sink, so that the client's code is JIT-compiled before the first measured request. */
  rehearse(): Promise<void>;
  /** Opens the connections of a level, so that its first requests do not wait for them. */
  prepare(step: LoadStep): Promise<void>;
  /** Whether the limit of outstanding requests allows a level from its start. If not, reports it, and sends nothing more. */
  admits(step: LoadStep): Promise<boolean>;
  /** Resolves when a level can start at once, with its connections open; a schedule waits for the requests before it. */
  settle(step: LoadStep): Promise<void>;
  /**
   * Starts a level, or changes to another one without a pause.
   * @param atNs start of a schedule, which several senders have in common. Default: now
   * @param firstNumber number of requests that all senders have sent of the data. Default: unknown; each continues with its part of the data
   */
  start(step: LoadStep, quota: number, atNs?: number, firstNumber?: number): Promise<void>;
  /** Prepares another level while the current one continues. */
  prepareChange(step: LoadStep): Promise<void>;
  /** Changes to the level that was prepared, at once: requests in flight end under it. The parameters are those of `start`. */
  change(quota: number, atNs?: number, firstNumber?: number): void;
  /** Sends this number of requests more; 0: none but the ends of open sequences. */
  setQuota(quota: number): void;
  endAtMinimums(minimums: QueryMinimums): void;
  /** Whether requests belong to a warm-up. None of these is cancelled on purpose. */
  setWarmup(isWarmup: boolean): void;
  /** Restarts the data at its first step. */
  rewind(): void;
  /** Stops sending, except for the ends of open sequences. Resolves when nothing is outstanding. */
  stop(): Promise<void>;
  /** Cancels requests in flight. @param which "unsent": those that wait for a connection. Default: all */
  cancel(message: string, which?: "all" | "unsent"): void;
  /** Fails outstanding requests and closes the connections. @param cancelMessage set: cancel them for this reason instead */
  close(cancelMessage?: string): void;

  /** Resolves when this number of requests more has ended. A new wait resolves the previous one. */
  untilMoreEnded(count: number): Promise<void>;
  /**
   * Resolves when every request that was sent before the first end after this call has ended.
   * @param limitNs time from which only the next end is awaited
   */
  untilSteady(limitNs: number): Promise<void>;
  /** Resolves at the end of a round of a closed loop, at once for other loads. See {@link untilRoundEnds}. */
  untilRoundEnds(): Promise<void>;
  /** Resolves when the quota is used up. */
  untilAllSent(): Promise<void>;
  /** Resolves when the quota is used up and nothing is outstanding. */
  untilFinished(): Promise<void>;

  progress(): SenderProgress;
  /** Like `progress`, for a display. */
  counts(): ProgressCounts;
  state(): Promise<SenderState>;
  /** Requests delayed by the load's limit of outstanding requests; undefined without a limit. */
  delayedByLimit(): Promise<DelayedRequests | undefined>;
  /** Returns the number of requests that are due by then and not sent, and skips them. */
  takeUnsent(atNs: number): Promise<number>;
  totals(): Promise<SenderTotals>;
  /** Passes the records of what was judged. */
  drainRecords(): void;

  /** Judges and counts what has ended. */
  drain(): Promise<Drained>;
  /** Begins a window. Requests in flight then are counted when they end. */
  beginWindow(startNs: number, options: CountOptions): Promise<BegunWindow>;
  /** Counts what ends before the load is steady, without a window. */
  lead(startNs: number, options: CountOptions): void;
  /** Moves the start of the window, in which nothing was sent yet. */
  restartWindow(startNs: number): void;
  /** Ends the window and begins the next one. */
  cut(endNs: number, last?: LastWindow): Promise<CutWindow>;
  /** Counts nothing until a window begins. */
  pauseCounting(): void;
  /** Ends the level's time line where its last window ended, and returns it, one for each sender; none without one. Send it right after `cut`. */
  takeTimeline(): Promise<readonly FinishedTimeline[]>;
  /** Begins a time line over several levels. */
  beginRunTimeline(startNs: number): void;
  /** Ends it, and returns it like `takeTimeline`. */
  takeRunTimeline(): Promise<readonly FinishedTimeline[]>;
  /**
   * Returns the times of the level, until its last cut at `endNs`, in which nothing ended for much longer than usual; undefined when the
   * sender owns nothing of the load.
   */
  findGaps(endNs: number, latency: Sketch): Promise<readonly CompletionGap[] | undefined>;
  /** Counts the queries of MLPerf. */
  countQueries(samplesPerQuery: number): Promise<void>;
  queries(): Promise<MlperfSample | undefined>;

  /** Begins to measure tokens, if the plan does. */
  beginTokens(startNs: number, options: BeginOptions): void;
  /** Following tokens belong to a warm-up. */
  warmUpTokens(): void;
  /** Forgets the tokens of earlier levels. */
  resetTokens(): void;
  /** Starts another window of tokens. */
  resumeTokens(): void;
  /** Returns the tokens of the last windows of a level as one; undefined when none are measured. */
  mergeTokens(windowCount: number): Promise<LevelTokens | undefined>;
  /** Returns the tokens since the last call for the same tap. */
  takeRecentTokens(tap: number): Promise<LevelTokens | undefined>;
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
