import type { Dataset } from "../inputs/dataset.ts";
import type { LevelUnitName } from "../load/level-units.ts";
import type { Instability } from "../measure/instability.ts";
import type { LimitState, LimitVerdict } from "../measure/limits/judge-limits.ts";
import type { Measurement } from "../measure/measurement.ts";
import type { MlperfResult } from "../measure/mlperf/judge-mlperf.ts";
import type { ServerDelta } from "../measure/server-delta.ts";
import type { TimelineBucket } from "../measure/timeline.ts";
import type { TokenColumns } from "../measure/tokens/token-columns.ts";
import type { Tags } from "../plan/groups/tags.ts";
import type { Text } from "../plan/messages.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunError } from "../plan/problem.ts";
import type { ServiceTraits } from "../service/service.ts";
import type { ScrapeResult } from "../telemetry/scrape-result.ts";
import type { ServerLoad } from "../transport/client.ts";
import type { FailureKind } from "../transport/failure.ts";

/** Result of a run. A run fills it in and reports read it. */

/** Facts about a run that are known before its first request. */
export interface PreparedRun {
  readonly plan: Plan;
  readonly service: ServiceTraits;
  readonly dataset: Dataset;
  readonly levelUnit: LevelUnitName;
  /** Total number of requests, if it is fixed. */
  readonly requestCount: number | undefined;
  /** Whether a lane waits for the response before it sends again. */
  readonly callMode: "sync" | "async";
  /** Number of lanes that share the requests. A closed loop without shared lanes has more lanes than requests. */
  readonly laneCount: number;
  /** Warnings for the user, one sentence each. */
  readonly warnings: readonly Text[];
}

/** Result of a level. */
export interface LevelResult {
  readonly unit: LevelUnitName;
  /** Concurrency, or requests per second. */
  readonly level: number;
  /**
   * - `measured`: the result is valid
   * - `unstable`: the windows never agreed; `window` has the last ones merged
   * - `over-limit`: the latency exceeded the limit
   * - `partial`: the run was interrupted; `window` has the results so far
   */
  readonly outcome: "measured" | "unstable" | "over-limit" | "partial";
  readonly window: Measurement;
  readonly trials: number;
  readonly instability: Instability | undefined;
  /** Only for asynchronous runs: throughput was stable and latency was not, which is accepted. */
  readonly isLatencyUnstable: boolean;
  /** Whether the server reports counters. `window.server` can still be undefined if they did not change. */
  readonly hasServerCounters: boolean;
  /** Requests delayed by the load's limit on outstanding requests; absent if there is no limit. */
  readonly delayedByLimit?: DelayedRequests;
  /** Requests that were due and not sent, because the client was behind; estimated above one million. Default: 0 */
  readonly unsentCount?: number;
  /** Token metrics of each request, in GenAI-Perf's mode and with MLPerf's rules. */
  readonly tokenRows?: TokenColumns;
  /** Whether the level meets the plan's limits; absent unless the load searches for the highest level that does. */
  readonly limits?: LevelLimits;
  /** Result by the rules of MLPerf; absent unless the load is an MLPerf scenario. */
  readonly mlperf?: MlperfResult;
  /** Progress within the level, for levels with a fixed duration; otherwise empty. */
  readonly timeline: readonly TimelineBucket[];
  /** The phase of the load; absent if it has none. */
  readonly phase?: { readonly index: number; readonly label: string };
  /** Number of threads that sent the level; absent unless the run chooses it. */
  readonly workers?: LevelWorkers;
  /** Set if other processes measured the level. Their clients are not known. */
  readonly isOfOthers?: true;
  /** Earlier measurements of this level, if a search repeated it. This result is the last one. */
  readonly repeats?: readonly LevelResult[];
}

/** The number of threads that sent a level. */
export interface LevelWorkers {
  readonly count: number;
  /** Reason for more than one thread: what limited the level before. */
  readonly reason?: string;
}

/** Names of the counts of requests. */
export const REQUEST_COUNTS = ["sentCount", "completedCount", "failedCount", "cancelledCount"] as const;

/**
 * Counts of requests. Cancelled ones were cancelled by this client, because the plan asks for it or a grace period ended. They are neither
 * completed nor failed.
 */
export type RequestCounts = Readonly<Record<(typeof REQUEST_COUNTS)[number], number>>;

/** A phase of a run. Times are nanoseconds since the start of the run. */
export interface PhaseResult {
  readonly index: number;
  readonly label: string;
  /** Whether the phase is a warm-up, which is not measured. */
  readonly isWarmup: boolean;
  readonly startNs: number;
  readonly endNs: number;
  /** Requests sent in the phase, and requests that ended in it, whenever they were sent. */
  readonly tally: RequestCounts;
  /** Requests in flight at its start. This plus the requests sent equals the requests that ended plus `openAfterCount`. */
  readonly openBeforeCount: number;
  readonly openAfterCount: number;
}

/** The phases of a run. Their tallies plus `after` equal the run's counts. */
export interface PhasesResult {
  /** Phases that began, in order. */
  readonly phases: readonly PhaseResult[];
  /** Requests that were in flight at the end of the last phase and ended later. */
  readonly after: RequestCounts;
  /** The whole run, with warm-up phases. */
  readonly timeline: readonly TimelineBucket[];
}

/** The assertion that ended a run. */
export interface AbortedBy {
  /** Index in the plan's assertions. */
  readonly assertionIndex: number;
  /** Measured value over the last part of the run, in the unit of the assertion's limit. */
  readonly measured: number;
}

/** A search's verdict on a level. */
export interface LevelLimits {
  readonly state: LimitState;
  /** One per limit of the plan. */
  readonly verdicts: readonly LimitVerdict[];
  /** Reason in words why the level counts as broken or unresolved, whatever its limits say; absent if the limits decide. */
  readonly reason?: string;
}

/** Result of a search for the highest level that meets all limits. */
export interface FindMaxResult {
  /** The highest level that certainly meets all limits; absent if none does. */
  readonly highest?: number;
  /** The lowest level above `highest` that certainly breaks a limit; absent if none does. Then `highest` is a lower bound. */
  readonly next?: number;
  /** False if levels between `highest` and `next` could not be decided and the two are too far apart, or if the search ended early. */
  readonly isResolved: boolean;
}

/** Data received over HTTP in a whole run. */
export interface ReceivedData {
  /** Bytes of responses. */
  readonly bytes: number;
  /** Number of complete responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Number of connections that were dropped because bytes arrived while no request waited for a response. */
  readonly unaskedCount: number;
}

/** The final result of a run. Its counts include requests outside of windows. */
export interface RunResult extends RequestCounts {
  readonly prepared: PreparedRun;
  readonly levels: readonly LevelResult[];
  /** Includes cancelled requests, as separate kinds. */
  readonly failures: readonly FailureCount[];
  /** The warm-up's share of the counts above; absent without a warm-up. */
  readonly warmup?: { readonly sentCount: number; readonly failedCount: number } | undefined;
  /** Absent if the load has no phases. */
  readonly phased?: PhasesResult | undefined;
  /** Absent unless the load searches for the highest level that meets the plan's limits. */
  readonly findMax?: FindMaxResult | undefined;
  readonly connectionCount: number;
  /** The most requests that were, or were expected to be, in flight at once: over HTTP/1.1 each needs its own connection to a server. */
  readonly slotCount: number;
  /** Number of requests that were sent again over a new connection. Each counts once as sent, and its times run from the first send. */
  readonly resendCount: number;
  /** Data received over HTTP in the whole run. Absent if not counted. */
  readonly received?: ReceivedData | undefined;
  /** Requests sent to each server; absent if there is only one. */
  readonly servers?: readonly ServerLoad[] | undefined;
  /** The other hosts that sent; absent if only this one did. */
  readonly hosts?: readonly SendingHost[] | undefined;
  /** Session counts; undefined without sessions. */
  readonly sessions?: SessionTally | undefined;
  /** Change of the server's counters during the whole run. */
  readonly server: ServerDelta | undefined;
  readonly isInterrupted: boolean;
  /** The error that ended the run, if any. */
  readonly error: RunError | undefined;
  /** The assertion that ended the run early; absent if none did. */
  readonly aborted?: AbortedBy | undefined;
  /** Advice on what to change, if no request succeeded and the cause is known. Set by the front door, in its terms. */
  readonly hint?: string | undefined;
  /** Lanes with a failed request, each with its first failure. perf_analyzer calls lanes threads. */
  readonly laneErrors: readonly LaneError[];
  /** Time before the first request, after the in-process rehearsal. */
  readonly startEpochNs: bigint;
  /** Time from `startEpochNs` to the end. */
  readonly durationNs: number;
  /** Metrics scraped from servers during the run; undefined if the plan asks for none. */
  readonly scrape?: ScrapeResult | undefined;
}

/** A host that sent a share of the load. */
export interface SendingHost extends Omit<RequestCounts, "cancelledCount"> {
  readonly name: string;
  /** Number of threads that sent from this host. */
  readonly workerCount: number;
  /** Time by which the host's clock was ahead at the start, the uncertainty of that, and the drift until the end, in nanoseconds. */
  readonly clockOffsetNs: number;
  readonly clockErrorNs: number;
  readonly clockDriftNs: number;
  /** Missing share of the host, if it was lost during the run. */
  readonly lost?: LostShare;
  /** Longest delay of a message after the moment at which all hosts should have acted on it, in nanoseconds. */
  readonly lateNs: number;
  /** Times in which the host, or one of its threads, did not run, in order. Absent: it always ran. */
  readonly standstills?: readonly HostStandstill[];
}

/** A time in which a host did not run, in nanoseconds since the start. */
export interface HostStandstill {
  readonly startNs: number;
  readonly endNs: number;
  /** Start of the standstill, on the clock of windows. */
  readonly fromNs: number;
}

/** The part of a run's data that is missing because a host was lost. */
export interface LostShare {
  /** Time of the last message from the host, in nanoseconds since the start. */
  readonly afterNs: number;
  /** Windows that end after this time, on the clock of windows, lack all or part of the host's share. */
  readonly fromNs: number;
  /** Number of requests that the host reported as ended and that no window contains. */
  readonly uncountedCount: number;
  readonly loadRatio: number;
  readonly reason: string;
}

/** The first failure of a lane. */
export interface LaneError {
  readonly lane: number;
  readonly message: string;
  /** The server's response and its status, if the service keeps them. */
  readonly response?: string;
  readonly status?: number | undefined;
}

/** Number of failures of one kind, with an example. */
export interface FailureCount {
  readonly kind: FailureKind;
  readonly count: number;
  /** Message of the first failure, prefixed with the server's name if there are several servers. */
  readonly example: string;
  readonly status: number | undefined;
  /** The first responses that the scenario's check refused, at most three; absent for other kinds. */
  readonly responses?: readonly WrongResponse[];
  /** Set if these are warm-up requests. */
  readonly isWarmup?: true;
  /** Number of failed requests by tags. Only for the kind `unfinished`; absent if requests have no tags. */
  readonly tagged?: readonly TaggedCount[];
}

/** Number of requests with these tags. */
export interface TaggedCount {
  readonly tags: Tags;
  readonly count: number;
}

/** A response that a scenario's check refused. */
export interface WrongResponse {
  /** Reason why the response is wrong. */
  readonly reason: string;
  /** Beginning of the response as text, at most 400 characters, without secrets. */
  readonly response: string;
}

/** Requests that waited after they were due, because too many were outstanding. */
export interface DelayedRequests {
  /** Requests that waited and were then sent. */
  readonly count: number;
  /** Longest wait in nanoseconds, including the wait so far of the first request in the queue. */
  readonly longestNs: number;
}

/** Session counts beyond the results of the sessions' requests. */
export interface SessionTally {
  /** Sessions with at least one turn sent. */
  readonly sessionCount: number;
  /** Sessions that ended before their last turn, because a turn failed or its response could not be read. */
  readonly cutCount: number;
  /** Turns that were not sent because their session had ended. */
  readonly unsentCount: number;
  /** Reason why the first session ended that could not be continued after a successful response. Absent if there was none. */
  readonly unreadReason?: string;
}
