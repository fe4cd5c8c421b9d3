import type { LevelUnitName } from "../load/level-units.ts";
import type { TokenMetric } from "../measure/tokens/metrics.ts";
import type { Tags } from "../plan/groups/tags.ts";

/** A scenario's function for finished requests. */
export type OnRecord = (record: FinishedRequest) => void | Promise<void>;

/** A finished request, as a scenario's function `onRecord` receives it. */
export interface FinishedRequest {
  /** Number of the request among the finished requests of the run, from 0. */
  readonly index: number;
  /** `cancelled`: by this client, on purpose or when the measurement ended. */
  readonly outcome: "completed" | "failed" | "cancelled";
  /** Time of the send, in milliseconds since 1970, with fractions. */
  readonly sentAtMs: number;
  /** Time from the send to the end of the response, or to the failure. */
  readonly latencyMs: number;
  /** Latency from the time at which the request was due; equal to `latencyMs` for loads without a schedule. */
  readonly scheduledLatencyMs: number;
  /** Time from the send to the first byte of the response; absent if none arrived. */
  readonly firstByteMs?: number;
  /** Set if the request was sent again over a new connection, because the server closed the kept one. Its times run from the first send. */
  readonly isResent?: true;
  /** Number of responses with content: 1 unless the response is a stream. */
  readonly responses: number;
  /** Tags of the request; empty if there are none. In a mix, `target` is the name of its target. */
  readonly tags: Tags;
  /** The level at which the request ended; absent if it ended after the last phase. */
  readonly level?: {
    readonly unit: LevelUnitName;
    /** The concurrency or rate. */
    readonly value: number;
    /** Whether the level is a warm-up, which is not measured. */
    readonly isWarmup: boolean;
    /** Name of the phase; absent if the load has no phases. */
    readonly phase?: string;
  };
  /**
   * Values that the target extracts from the response, by name; null for values that the response lacks. Absent if the target
   * extracts none, and for failures.
   */
  readonly extracted?: Readonly<Record<string, unknown>>;
  /** Tokens of the response; absent for failures, and if tokens are not measured. */
  readonly tokens?: FinishedTokens;
  /** Reason why the request failed or was cancelled; absent if it completed. */
  readonly failure?: {
    /** Such as `http`, `stalled` or `check`. */
    readonly kind: string;
    readonly message: string;
    /** HTTP status or gRPC status code, for the kinds that have one. */
    readonly status?: number;
  };
}

/** A key of the table of token metrics, with its times in milliseconds. */
type NameInMs<K> = K extends `${infer Name}Ns` ? `${Name}Ms` : K;

/**
 * Times and counts of the tokens of one response: `timeToFirstTokenMs`, `interTokenLatencyMs`, `outputTokens`,
 * `serverOutputTokens` and the other token metrics. A metric that the response lacks is absent.
 */
export type FinishedTokens = { readonly [K in TokenMetric as NameInMs<K>]?: number } & {
  /** Arrival of each read with content, in milliseconds after the send. One read can contain several tokens. */
  readonly contentMs: readonly number[];
  /** Reason why the response counts as failed for tokens: an error in it, or a stream that was cut off; absent for a good response. */
  readonly error?: string;
};
