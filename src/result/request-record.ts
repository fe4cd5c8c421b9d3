import type { Tensor } from "../service/tensor.ts";
import type { Failure } from "../transport/failure.ts";

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
  /** When it came, in whole nanoseconds after the send; later than the response before it. */
  readonly offsetNs: number;
  readonly epochNs: bigint;
  /** Of an empty response: every output of the model, without data. */
  readonly outputs: ReadonlyMap<string, Tensor>;
}
