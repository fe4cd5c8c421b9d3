import type { Tags } from "../plan/groups/tags.ts";
import type { RequestContent, ResponseContent } from "../service/content.ts";
import type { Failure } from "../transport/failure.ts";
import type { KeptEvents } from "../transport/kept-events.ts";

/** One request, for exports. Times are wall-clock nanoseconds since the epoch. */
export interface RequestRecord {
  /** Number of the request among the finished requests of the run, from 0. */
  readonly index: number;
  readonly sendEpochNs: bigint;
  /** Correlation id; 0 for a request outside of a sequence. */
  readonly sequenceId: number;
  readonly inputs: RequestContent;
  /** Time from the send to the end, as in the latency of its level. */
  readonly latencyNs: number;
  readonly responses: ResponseRecords;
  /** The server that responded, if there are several. */
  readonly server?: string;
  /** Set if the request was sent again over a new connection. Its times run from the first send. */
  readonly isResent?: true;
  /**
   * Values that the target extracts from the response, by name; null for values that the response lacks. Absent if the target
   * extracts none.
   */
  readonly extracted?: Readonly<Record<string, unknown>>;
  /** Absent if the run has no tags. */
  readonly tags?: Tags;
  /** Set if tokens of the request are measured, so that `onTokens` follows. */
  readonly hasTokens?: true;
}

/** One failed request, for exports. Times are as in {@link RequestRecord}. */
export interface FailedRequest
  extends Pick<RequestRecord, "index" | "sendEpochNs" | "sequenceId" | "inputs" | "isResent" | "tags"> {
  /** Arrival of the first byte; undefined if none arrived. */
  readonly firstByteEpochNs: bigint | undefined;
  /** Time at which the failure was detected. */
  readonly endEpochNs: bigint;
  /** Number of responses before the failure. */
  readonly responseCount: number;
  readonly failure: Failure;
}

/** The responses of a request, for exports: one unless requests can have several. Includes an empty last response. */
export interface ResponseRecords {
  /** Arrival of each, in whole nanoseconds after the send; later than the previous one. */
  readonly offsetsNs: readonly number[];
  /** Outputs of each; for an empty one, all outputs of the model, without data. */
  readonly outputs: readonly ResponseContent[];
  /** Whether the last one only marks the end. */
  readonly hasEmptyEnd: boolean;
  /** The outputs again where they are the events of a stream, without a copy; valid until the observer returns. */
  readonly events?: KeptEvents;
}
