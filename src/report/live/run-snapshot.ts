import type { LevelUnitName } from "../../load/level-units.ts";
import type { ExponentialHistogram } from "../../measure/exponential-histogram.ts";
import type { ClientLoad } from "../../result/observer.ts";
import type { RequestCounts } from "../../result/run-result.ts";
import type { LevelTokens } from "./level-tokens.ts";

/** The state of a run at one moment: the only source of the live view, the web page, the metrics and OTLP. */

/** A level, its warm-up, or a phase. */
export interface LevelPlace {
  readonly unit: LevelUnitName;
  /** Concurrency, or requests per second. */
  readonly level: number;
  /** `concurrency 4` */
  readonly name: string;
  readonly isWarmup: boolean;
  /** Number of the phase from 1; absent if the load has no phases. */
  readonly phase?: { readonly number: number; readonly count: number; readonly label: string };
}

/** Counts of a level. Levels add up to the run: a request counts in the level where it was sent, and in the level where it ended. */
export interface LevelTally extends RequestCounts {
  /** Undefined before the first level begins, and for the levels above a maximum number, which are counted together. */
  readonly place: LevelPlace | undefined;
  /** Responses to completed requests: of a stream over HTTP all events, also the last one without content. */
  readonly responseCount: number;
  /** Latencies of completed requests; their number equals that of completed requests when it is read. */
  readonly latency: ExponentialHistogram;
  /**
   * From the send to the first response of completed requests; undefined if responses are not streamed. Also where tokens are measured: the first
   * response of a chat may only name a role, and the head of a stream over HTTP comes sooner still, long before the first token.
   */
  readonly firstResponse: ExponentialHistogram | undefined;
  /** Time in which the level was the current one. */
  readonly spentNs: number;
  /** Token totals of the level, up to a second ago; undefined if no tokens are measured. */
  readonly tokens: LevelTokens | undefined;
}

/** Rates and percentiles over the last seconds of the current level. */
export interface RecentRates {
  readonly requestsPerSec: number;
  /** Responses of streams; undefined if responses are not streamed. */
  readonly chunksPerSec: number | undefined;
  /** At `RECENT_RATIOS`; undefined if no request completed. */
  readonly latencyNs: readonly number[] | undefined;
  /** The same until the first response; undefined where {@link LevelTally.firstResponse} is. */
  readonly firstResponseNs: readonly number[] | undefined;
}

/** Ratios of the percentiles of {@link RecentRates}. */
export const RECENT_RATIOS = [0.5, 0.9, 0.99, 0.999] as const;
/** Names of these percentiles: `p50`. */
export const RECENT_NAMES = RECENT_RATIOS.map((ratio) => `p${Number((100 * ratio).toPrecision(4))}`);

/** The measuring windows of the current level. */
export interface RecentWindows {
  /** Number of windows so far. */
  readonly count: number;
  /** Largest number of windows; undefined if another rule ends the level. */
  readonly atMost: number | undefined;
  /** Maximum over minimum minus 1 of the last three windows; undefined if there are fewer. */
  readonly spread: { readonly throughputRatio: number; readonly latencyRatio: number } | undefined;
  /** Allowed spread; undefined if no spread is limited. */
  readonly toleranceRatio: number | undefined;
  /** Whether the last windows agree; undefined if no spread is limited. */
  readonly isStable: boolean | undefined;
}

/** Progress of a run. */
export interface RunProgressRatio {
  /** 0 to 1. */
  readonly doneRatio: number;
  /** Undefined at the very beginning. */
  readonly leftSec: number | undefined;
  /** Total number of requests; undefined if a duration limits the run. */
  readonly requestCount: number | undefined;
}

/** The state of a run. */
export interface RunSnapshot extends RequestCounts {
  readonly elapsedSec: number;
  /** Undefined before the first level. */
  readonly place: LevelPlace | undefined;
  /** Requests in flight. */
  readonly outstanding: number;
  /** Longest time for which the run still waits for them before it continues or ends; undefined if it does not wait. */
  readonly waitSec: number | undefined;
  readonly recent: RecentRates;
  /** Undefined if the level has no windows. */
  readonly windows: RecentWindows | undefined;
  /** Undefined if the end is unknown. */
  readonly progress: RunProgressRatio | undefined;
  /** CPU time of the measuring thread in cores, and the maximum delay of its event loop, since the previous snapshot. */
  readonly client: ClientLoad;
  readonly levels: readonly LevelTally[];
  /** Heading of the column of levels: `users`. */
  readonly levelTitle: string;
  /** Unit of throughput: `req/s`. */
  readonly unit: string;
  readonly isFinished: boolean;
}
