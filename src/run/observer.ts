import type { Dataset } from "../inputs/dataset.ts";
import type { Instability } from "../measure/instability.ts";
import type { RecordColumns } from "../measure/records.ts";
import type { ServerDelta } from "../measure/server-delta.ts";
import type { TimelineBucket } from "../measure/timeline.ts";
import type { TokenColumns } from "../measure/tokens/token-metrics.ts";
import type { WindowResult } from "../measure/window.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunError } from "../plan/problem.ts";
import type { Service } from "../service/service.ts";
import type { Tensor } from "../service/tensor.ts";
import type { MetricsWarning } from "../telemetry/metrics-poller.ts";
import type { ScrapeResult } from "../telemetry/scrape-result.ts";
import type { ServerLoad } from "../transport/client.ts";
import type { Failure } from "../transport/failure.ts";
import type { FailureCount } from "./judge/failure-log.ts";
import type { HeldBack } from "./send/outstanding-limit.ts";
import type { SessionTally } from "./send/session-feed.ts";

/** What a run tells while it goes on, and what it ends with. Reports are written against these. */

/** What is known before the first request. */
export interface PreparedRun {
  readonly plan: Plan;
  readonly service: Service;
  readonly dataset: Dataset;
  readonly levelUnit: "concurrency" | "request-rate";
  /** Requests that will be sent in all, where their number is fixed. */
  readonly requestCount: number | undefined;
  /** Whether lanes wait for their answers before they send again. */
  readonly callMode: "sync" | "async";
  /** Lanes among which requests are dealt; of closed loops without shared lanes more than there are requests. */
  readonly laneCount: number;
  /** Things the user should know, one sentence each. */
  readonly warnings: readonly string[];
}

/** What came of a level. */
export interface LevelResult {
  readonly unit: "concurrency" | "request-rate";
  /** Concurrency or requests per second. */
  readonly level: number;
  /**
   * - `measured`: the result stands
   * - `unstable`: windows never agreed; `window` is the last ones merged
   * - `over-limit`: the latency limit was met
   * - `partial`: the run was interrupted; `window` is what there was
   */
  readonly outcome: "measured" | "unstable" | "over-limit" | "partial";
  readonly window: WindowResult;
  readonly trials: number;
  readonly instability: Instability | undefined;
  /** Only for asynchronous runs: throughput agreed and latency did not, which is accepted. */
  readonly isLatencyUnstable: boolean;
  /** Whether the server tells its counters; `window.server` may be missing all the same when they did not change. */
  readonly hasServerCounters: boolean;
  /** What waited because of the load's limit of requests outstanding; absent where it has none. */
  readonly heldBack?: HeldBack;
  /** Its answers' tokens, where the plan asks for them. */
  readonly tokens?: TokenColumns;
  /** Progress within the level, for levels measured over a given time; otherwise empty. */
  readonly timeline: readonly TimelineBucket[];
  /** Other measurements of the same level, where a search confirmed what the first of them said; this one is the last. */
  readonly repeats?: readonly LevelResult[];
}

/** What a run ends with. */
export interface RunResult {
  readonly prepared: PreparedRun;
  readonly levels: readonly LevelResult[];
  /** All requests of the run, those outside of windows included. */
  readonly sentCount: number;
  readonly completedCount: number;
  readonly failedCount: number;
  /** Requests given up by this client, as the plan asks or when a grace period was over; neither completed nor failed. */
  readonly cancelledCount: number;
  /** Also of requests that were given up, by kinds of their own. */
  readonly failures: readonly FailureCount[];
  /** The part of the requests above that went before measurements; absent where there was no warm-up. */
  readonly warmup?: { readonly sentCount: number; readonly failedCount: number } | undefined;
  readonly connectionCount: number;
  /** Times that a request was sent again, as the server cannot have processed it; each request counts once as sent all the same. */
  readonly resendCount: number;
  /** What each of several servers was sent; absent where there is one. */
  readonly servers?: readonly ServerLoad[] | undefined;
  /** What became of sessions; undefined where there are none. */
  readonly sessions?: SessionTally | undefined;
  /** Change of the server's counters over the whole run. */
  readonly server: ServerDelta | undefined;
  readonly isInterrupted: boolean;
  /** Set when the run could not go on. */
  readonly error: RunError | undefined;
  /** What to change, where no request succeeded and the cause is known; in the words of the front door, which sets it. */
  readonly hint?: string | undefined;
  /** Lanes whose request failed, with their first failures: what perf_analyzer calls threads. */
  readonly laneErrors: readonly LaneError[];
  /** Before the first request, and after what was rehearsed without a server. */
  readonly startEpochNs: bigint;
  /** From there to the end. */
  readonly durationNs: number;
  /** What the metrics of servers said meanwhile; undefined where the plan asks for none. */
  readonly scrape?: ScrapeResult | undefined;
}

/** The first failure of a lane. */
export interface LaneError {
  readonly lane: number;
  readonly message: string;
  /** What the server answered, where the service keeps it, and the status that came with it. */
  readonly answer?: string;
  readonly status?: number | undefined;
}

/** One request, for exports. Times are wall-clock nanoseconds since the epoch. */
export interface RequestRecord {
  readonly sendEpochNs: bigint;
  /** Correlation id; 0 for a request that belongs to no sequence. */
  readonly sequenceId: number;
  readonly inputs: readonly Tensor[];
  /** One, where requests do not have several; an empty last one included. */
  readonly responses: readonly ResponseRecord[];
}

/** One request that failed, for exports. Times as {@link RequestRecord} has them. */
export interface FailedRequest {
  readonly sendEpochNs: bigint;
  /** Of the first byte of an answer; undefined where none came. */
  readonly firstByteEpochNs: bigint | undefined;
  /** When it was known to have failed. */
  readonly endEpochNs: bigint;
  readonly sequenceId: number;
  readonly inputs: readonly Tensor[];
  /** Responses that came before the failure. */
  readonly responseCount: number;
  readonly failure: Failure;
}

/** One response of a request, for exports. */
export interface ResponseRecord {
  readonly epochNs: bigint;
  /** Of an empty response: every output of the model, without data. */
  readonly outputs: ReadonlyMap<string, Tensor>;
}

/** Something traced under `-v -v`. */
export type TraceEvent =
  /** An answer to a question outside the load. */
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "request"; readonly text: string }
  | { readonly kind: "response"; readonly text: string }
  /** Heads of HTTP messages; `>` sent, `<` received. */
  | { readonly kind: "wire"; readonly direction: ">" | "<"; readonly head: string }
  /** A connection for questions outside the load was made. */
  | { readonly kind: "connect"; readonly url: string };

/** Something that came up during the run and that the user should know; nothing is told twice. */
export type RunWarning =
  | MetricsWarning
  /** Several versions of the model moved while none was asked for: the server's times are those of the highest. */
  | { readonly kind: "many-versions"; readonly model: string }
  /** The server does not have the calls for its statistics. */
  | { readonly kind: "no-statistics"; readonly reason: string }
  /** The server's trace settings could not be set back. */
  | { readonly kind: "trace-kept"; readonly settings: string; readonly reason: string }
  /** The server may still have a region of shared memory. */
  | { readonly kind: "memory-kept"; readonly reason: string };

/** The state of a run at the moment of asking, which costs it next to nothing. */
export interface RunProgress {
  readonly sentCount: number;
  readonly completedCount: number;
  readonly failedCount: number;
  /** Given up on purpose. */
  readonly cancelledCount: number;
  /** Requests sent and not answered. */
  readonly outstanding: number;
  /** Responses so far of the requests that are outstanding, where they may have several. */
  readonly openResponses: number;
  /** Hands what was recorded since the last time to `onBatch`. */
  handOver(): void;
}

/** Follows a run. All calls are synchronous and in order. */
export interface RunObserver {
  /** Ahead of all requests that are measured. */
  onProgress?(progress: RunProgress): void;
  /** Takes finished requests, the rows `[0, count)`, some at a time; they are overwritten afterwards. */
  onBatch?(records: RecordColumns, count: number): void;
  onTrace?(event: TraceEvent): void;
  onWarning?(warning: RunWarning): void;
  onPrepared?(prepared: PreparedRun): void;
  onLevelStart?(unit: "concurrency" | "request-rate", level: number, isWarmup: boolean): void;
  /** @param latencyNs the latency that stability looks at */
  onWindow?(trial: number, window: WindowResult, latencyNs: number): void;
  /** A window without a measurement. */
  onWindowError?(trial: number, message: string): void;
  /** All processes that measure together are stable. */
  onAllStable?(): void;
  onLevelEnd?(result: LevelResult): void;
  /** Every successful request in the order they ended; only when `wantsRecords`. */
  onRecord?(record: RequestRecord): void;
  /** Every request that failed, those outside of windows included. */
  onFailed?(request: FailedRequest): void;
  /** Records since the last call belong to the window just ended; `undefined` bounds: to none. */
  onRecordsCut?(bounds: { readonly startEpochNs: bigint; readonly endEpochNs: bigint } | undefined): void;
}

/** Calls all observers of a list. */
export function joinObservers(observers: readonly RunObserver[]): RunObserver {
  const [only, ...others] = observers;
  if (only !== undefined && others.length === 0) return only;
  return {
    onProgress: (progress) => {
      for (const observer of observers) observer.onProgress?.(progress);
    },
    onBatch: (records, count) => {
      for (const observer of observers) observer.onBatch?.(records, count);
    },
    onTrace: (event) => {
      for (const observer of observers) observer.onTrace?.(event);
    },
    onWarning: (warning) => {
      for (const observer of observers) observer.onWarning?.(warning);
    },
    onPrepared: (prepared) => {
      for (const observer of observers) observer.onPrepared?.(prepared);
    },
    onLevelStart: (unit, level, isWarmup) => {
      for (const observer of observers) observer.onLevelStart?.(unit, level, isWarmup);
    },
    onWindow: (trial, window, latencyNs) => {
      for (const observer of observers) observer.onWindow?.(trial, window, latencyNs);
    },
    onWindowError: (trial, message) => {
      for (const observer of observers) observer.onWindowError?.(trial, message);
    },
    onAllStable: () => {
      for (const observer of observers) observer.onAllStable?.();
    },
    onLevelEnd: (result) => {
      for (const observer of observers) observer.onLevelEnd?.(result);
    },
    ...(wantsRecords(observers)
      ? {
          onRecord: (record) => {
            for (const observer of observers) observer.onRecord?.(record);
          },
        }
      : {}),
    ...(observers.some(({ onFailed }) => onFailed !== undefined)
      ? {
          onFailed: (request) => {
            for (const observer of observers) observer.onFailed?.(request);
          },
        }
      : {}),
    onRecordsCut: (bounds) => {
      for (const observer of observers) observer.onRecordsCut?.(bounds);
    },
  };
}

function wantsRecords(observers: readonly RunObserver[]): boolean {
  for (const observer of observers) if (observer.onRecord !== undefined) return true;
  return false;
}
