import type { LevelUnitName } from "../load/level-units.ts";
import type { TokenMetric } from "../measure/tokens/metrics.ts";
import type { Tags } from "../plan/groups/tags.ts";

/** A scenario's function for finished requests. */
export type OnRecord = (record: FinishedRequest) => void | Promise<void>;

/** A finished request, as a scenario's function `onRecord` receives it. */
export interface FinishedRequest {
  /** Its number among the finished requests of the run, from 0. */
  readonly index: number;
  /** `cancelled`: by this client, on purpose or when the measurement ended. */
  readonly outcome: "completed" | "failed" | "cancelled";
  /** When it was sent, in milliseconds since 1970, with fractions. */
  readonly sentAtMs: number;
  /** From the send to the end of the response, or to the failure. */
  readonly latencyMs: number;
  /** The same from the time when it was due; with loads without a schedule the same as `latencyMs`. */
  readonly scheduledLatencyMs: number;
  /** From the send to the first byte of the response; absent when none arrived. */
  readonly firstByteMs?: number;
  /** It was sent again over a new connection, because the server closed the kept one. Its times run from the first send. */
  readonly isResent?: true;
  /** Number of responses: 1 unless it is a stream. A stream over HTTP has all its events, also the last one, without content. */
  readonly responses: number;
  /** Its tags; empty without any. In a mix, `target` is the name of its target. */
  readonly tags: Tags;
  /** The level at which it ended; absent when it ended after the last phase. */
  readonly level?: {
    readonly unit: LevelUnitName;
    /** The concurrency or rate. */
    readonly value: number;
    /** Whether it belongs to a warm-up, which is not measured. */
    readonly isWarmup: boolean;
    /** Name of the phase; absent if the load has no phases. */
    readonly phase?: string;
  };
  /** Values that the target extracts from the response, by name; null for those that it lacks. Absent when it extracts none, and for failures. */
  readonly extracted?: Readonly<Record<string, unknown>>;
  /** Tokens of the response; absent when they are not measured, and for failures. */
  readonly tokens?: FinishedTokens;
  /** Why it failed or was cancelled; absent when it completed. */
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
 * Times and counts of the tokens of one response: `timeToFirstTokenMs`, `interTokenLatencyMs`, `outputTokens`, `serverOutputTokens` and the
 * other token metrics. Those that the response lacks are absent.
 */
export type FinishedTokens = { readonly [K in TokenMetric as NameInMs<K>]?: number } & {
  /** Arrival of each read with content, in milliseconds after the send. Several tokens can arrive in one read. */
  readonly contentMs: readonly number[];
  /** Why the response counts as failed for tokens: an error in it, or a stream that was cut off; absent for a good one. */
  readonly error?: string;
};
