import type { PackedFailure } from "./packed-answers.ts";
import type { Prompt } from "./prompt.ts";
import type { AnsweredRequest } from "./token-columns.ts";

/** One answered request. */
export interface AnsweredCall {
  readonly prompt: Prompt;
  readonly sequenceId: number;
  /** In nanoseconds after any origin that all requests share. */
  readonly sendNs: number;
  /** When each response came, in nanoseconds after the send. */
  readonly offsetsNs: ArrayLike<number>;
  /** The responses as text. For KServe models: their outputs by name, as JSON or read. */
  readonly responses: readonly (string | Readonly<Record<string, unknown>>)[];
  /** Its tokens where they were counted elsewhere. */
  readonly tokens?: { readonly input: number; readonly output: number; readonly reasoning: number } | undefined;
}

/** An answered request with what was measured of it. */
export interface MeasuredRequest extends Pick<AnsweredCall, "prompt" | "sequenceId" | "sendNs" | "offsetsNs"> {
  /** Undefined where the answer is no text, or none. */
  readonly answered: AnsweredRequest | undefined;
  /** Why the server ended its answer, in its own word. */
  readonly finishReason?: string | undefined;
  /** What the server said went wrong, inside an answer that came. */
  readonly error?: string | undefined;
}

/** A request without an answer. */
export interface FailedAnswer extends PackedFailure {
  readonly prompt: Prompt | undefined;
  readonly isWarmup: boolean;
}

/** Where single requests go, in the order in which they ended. */
export interface MeasuredSink {
  /** An answered request of the measurement. */
  onMeasured(request: MeasuredRequest): void;
  /** A request without an answer, those of the warm-up included. */
  onFailure?(failure: FailedAnswer): void;
}
