import type { Tags } from "../plan/split/tags.ts";

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
  /** Number of responses with content: 1 unless it is a stream. */
  readonly responses: number;
  /** Its tags; empty without any. In a mix, `target` is the name of its target. */
  readonly tags: Tags;
  /** Why it failed or was cancelled; absent when it completed. */
  readonly failure?: {
    /** Such as `http`, `stalled` or `check`. */
    readonly kind: string;
    readonly message: string;
    /** HTTP status or gRPC status code, for the kinds that have one. */
    readonly status?: number;
  };
}
