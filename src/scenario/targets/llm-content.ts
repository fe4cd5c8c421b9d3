import type { TokensPlan } from "../../plan/tokens.ts";
import { hasText } from "../../service/openai/answer-kind.ts";
import type { LlmEndpoint, LlmEndpointName } from "../../service/openai/endpoints.ts";
import type { AnswerType } from "./target.ts";

/** The format of requests and responses of a target. */
export interface LlmContent {
  readonly model: string;
  readonly endpointName: LlmEndpointName;
  readonly endpoint: LlmEndpoint;
  readonly isStreaming: boolean;
  readonly tokenizer: string;
  readonly revision: string;
}

/** Returns how tokens are measured; undefined when responses have none. @param isLengthAsked whether requests ask for a response length */
export function toTokensPlan(
  { endpoint, isStreaming, tokenizer, revision }: LlmContent,
  isLengthAsked: boolean,
): TokensPlan | undefined {
  const { answers } = endpoint;
  if (!hasText(answers)) return undefined;
  return { answers, isStreamed: isStreaming, tokenizer, revision, ...(isLengthAsked ? { isLengthAsked } : {}) };
}

/** Returns the type of a target's responses. */
export function answerTypeOf({ endpoint, isStreaming }: LlmContent): AnswerType {
  if (!hasText(endpoint.answers)) return "plain";
  return isStreaming ? "stream" : "text";
}
