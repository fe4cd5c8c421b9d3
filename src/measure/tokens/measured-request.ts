import type { AnsweredRequest } from "./answered-request.ts";
import type { PackedFailure, PackedResponse } from "./packed-responses.ts";
import type { Prompt } from "./prompt.ts";

/** One answered request. */
export interface AnsweredCall extends Omit<PackedResponse, "step" | "bodies"> {
  readonly prompt: Prompt;
  /** The responses as text. For models on Triton, their outputs by name, as JSON text or parsed. */
  readonly responses: readonly (string | Readonly<Record<string, unknown>>)[];
  /** Token counts, if already known. */
  readonly tokens?: { readonly input: number; readonly output: number; readonly reasoning: number } | undefined;
}

/** An answered request and its measurements. */
export interface MeasuredRequest
  extends Pick<AnsweredCall, "prompt" | "sequenceId" | "server" | "sendNs" | "offsetsNs"> {
  /** Undefined if the response is not text, or is empty. */
  readonly answered: AnsweredRequest | undefined;
  /** Why the server ended its response, in the server's word. */
  readonly finishReason?: string | undefined;
  /** An error that the server reported inside its response. */
  readonly error?: string | undefined;
}

/** A request without a response. */
export interface FailedResponse extends PackedFailure {
  readonly prompt: Prompt | undefined;
  readonly isWarmup: boolean;
}

/** Receives single requests in the order in which they ended. */
export interface MeasuredSink {
  /** Receives an answered request of the measurement. */
  onMeasured(request: MeasuredRequest): void;
  /** Receives a request without a response, including warm-up requests. */
  onFailure?(failure: FailedResponse): void;
}
