import type { AnswerKind } from "./answer-kind.ts";
import type { PayloadFormat } from "./payload.ts";

/** One endpoint. */
export interface LlmEndpoint {
  /** Path without a leading slash; may contain `{MODEL}`. */
  readonly path: string;
  /** Path for streaming; absent when it is the same. */
  readonly streamPath?: string;
  readonly format: PayloadFormat;
  readonly answers: AnswerKind;
}

/** The endpoints of generative, embedding and ranking models by name: their path, and the format of requests and answers. */
export const LLM_ENDPOINTS = {
  chat: { path: "v1/chat/completions", format: "chat", answers: "chat" },
  completions: { path: "v1/completions", format: "completions", answers: "completions" },
  responses: { path: "v1/responses", format: "responses", answers: "responses" },
  messages: { path: "v1/messages", format: "messages", answers: "anthropic" },
  multimodal: { path: "v1/chat/completions", format: "multimodal", answers: "multimodal" },
  generate: {
    path: "v2/models/{MODEL}/generate",
    streamPath: "v2/models/{MODEL}/generate_stream",
    format: "generate",
    answers: "generate",
  },
  huggingfaceGenerate: {
    path: "generate",
    streamPath: "generate_stream",
    format: "huggingface_generate",
    answers: "huggingface-generate",
  },
  embeddings: { path: "v1/embeddings", format: "embeddings", answers: "embeddings" },
  nvclip: { path: "v1/embeddings", format: "nvclip", answers: "nvclip" },
  rankings: { path: "v1/ranking", format: "rankings", answers: "rankings" },
  cohereRankings: { path: "v2/rerank", format: "cohere_rankings", answers: "rankings" },
  teiRankings: { path: "rerank", format: "tei_rankings", answers: "rankings" },
  imageRetrieval: { path: "v1/infer", format: "image_retrieval", answers: "image-retrieval" },
} as const satisfies Record<string, LlmEndpoint>;

/** The endpoint of a target that names none. */
export const DEFAULT_LLM_ENDPOINT = "chat";

/** The name of an endpoint of a language, embedding, ranking or image model. */
export type LlmEndpointName = keyof typeof LLM_ENDPOINTS;

/** Returns the path of requests. @param ownPath replaces the endpoint's path; empty: none */
export function llmPath(name: LlmEndpointName, ownPath: string, model: string, isStreaming: boolean): string {
  if (ownPath !== "") return ownPath.replace(/^[ /]+/, "");
  const { path, streamPath }: LlmEndpoint = LLM_ENDPOINTS[name];
  return ((isStreaming ? streamPath : undefined) ?? path).replace("{MODEL}", model);
}
