import type { TokensPlan } from "../../plan/tokens.ts";
import type { LlmEndpoint, LlmEndpointName } from "../../service/openai/endpoints.ts";
import { hasText } from "../../service/openai/response-kind.ts";
import type { ResponseType } from "./target.ts";

/** The format of requests and responses of a target. */
export interface LlmContent {
  readonly model: string;
  readonly endpointName: LlmEndpointName;
  readonly endpoint: LlmEndpoint;
  readonly isStreaming: boolean;
  readonly tokenizer: string;
  readonly revision: string;
  /**
   * True if the tokenizer is the model's name, because the scenario sets none: if it cannot be loaded, the server's counts are used.
   * Absent: false.
   */
  readonly isTokenizerAssumed?: boolean;
}

/**
 * Returns the settings for measuring tokens; undefined if responses have none. @param isLengthAsked whether requests set a response length
 */
export function toTokensPlan(
  { endpoint, isStreaming, tokenizer, revision, isTokenizerAssumed }: LlmContent,
  isLengthAsked: boolean,
): TokensPlan | undefined {
  const { responses } = endpoint;
  if (!hasText(responses)) return undefined;
  return {
    ...{ responses, isStreamed: isStreaming, tokenizer, revision },
    ...(isTokenizerAssumed === true ? { ifNotLoaded: { tokenizer: "none" } } : {}),
    ...(isLengthAsked ? { isLengthAsked } : {}),
  };
}

/** Returns the type of a target's responses. */
export function responseTypeOf({ endpoint, isStreaming }: LlmContent): ResponseType {
  if (!hasText(endpoint.responses)) return "vectors";
  return isStreaming ? "stream" : "text";
}
