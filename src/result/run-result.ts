import type { Dataset } from "../inputs/dataset.ts";
import type { Instability } from "../measure/instability.ts";
import type { ServerDelta } from "../measure/server-delta.ts";
import type { TimelineBucket } from "../measure/timeline.ts";
import type { TokenColumns } from "../measure/tokens/token-columns.ts";
import type { WindowResult } from "../measure/window.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunError } from "../plan/problem.ts";
import type { Service } from "../service/service.ts";
import type { ScrapeResult } from "../telemetry/scrape-result.ts";
import type { ServerLoad } from "../transport/client.ts";
import type { FailureKind } from "../transport/failure.ts";

/** The result of a run. Reports are written against these shapes; a run fills them in. */

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
  readonly delayedByLimit?: DelayedRequests;
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

/** Failures of one kind: how many, and one of them. */
export interface FailureCount {
  readonly kind: FailureKind;
  readonly count: number;
  /** The first one's message; with the server's name before it where there are several. */
  readonly example: string;
  readonly status: number | undefined;
  /** Of the requests before the measurement. */
  readonly isWarmup?: true;
}

/** Requests that were due and had to wait because too many were outstanding. */
export interface DelayedRequests {
  /** Requests that waited and were sent. */
  readonly count: number;
  /** The longest wait in nanoseconds; that of the first request which waits still counts too. */
  readonly longestNs: number;
}

/** What became of sessions besides their requests' own results. */
export interface SessionTally {
  readonly sessionCount: number;
  /** Sessions that ended before their last turn, because a turn failed or its answer could not be read. */
  readonly cutCount: number;
  /** Turns that were not sent for that. */
  readonly unsentCount: number;
}
