import type { PayloadFormat } from "./payload.ts";
import type { ResponseKind } from "./response-kind.ts";

export interface LlmEndpoint {
  /** Path without a leading slash; may contain `{MODEL}`. */
  readonly path: string;
  /** Path for streaming. Absent: the same path. */
  readonly streamPath?: string;
  readonly format: PayloadFormat;
  readonly responses: ResponseKind;
}

/**
 * The endpoints of generative, embedding and ranking models by name, with their path and the format of requests and responses.
 */
export const LLM_ENDPOINTS = {
  chat: { path: "v1/chat/completions", format: "chat", responses: "chat" },
  completions: { path: "v1/completions", format: "completions", responses: "completions" },
  responses: { path: "v1/responses", format: "responses", responses: "responses" },
  messages: { path: "v1/messages", format: "messages", responses: "anthropic" },
  multimodal: { path: "v1/chat/completions", format: "multimodal", responses: "multimodal" },
  generate: {
    path: "v2/models/{MODEL}/generate",
    streamPath: "v2/models/{MODEL}/generate_stream",
    format: "generate",
    responses: "generate",
  },
  huggingfaceGenerate: {
    path: "generate",
    streamPath: "generate_stream",
    format: "huggingface_generate",
    responses: "huggingface-generate",
  },
  embeddings: { path: "v1/embeddings", format: "embeddings", responses: "embeddings" },
  nvclip: { path: "v1/embeddings", format: "nvclip", responses: "nvclip" },
  rankings: { path: "v1/ranking", format: "rankings", responses: "rankings" },
  cohereRankings: { path: "v2/rerank", format: "cohere_rankings", responses: "rankings" },
  teiRankings: { path: "rerank", format: "tei_rankings", responses: "rankings" },
  imageRetrieval: { path: "v1/infer", format: "image_retrieval", responses: "image-retrieval" },
} as const satisfies Record<string, LlmEndpoint>;

/** Endpoint of a target that sets none. */
export const DEFAULT_LLM_ENDPOINT = "chat";

/** The name of an endpoint of a language, embedding, ranking or image model. */
export type LlmEndpointName = keyof typeof LLM_ENDPOINTS;

/** Returns the path of requests. @param ownPath replaces the endpoint's path; empty: keep it */
export function llmPath(name: LlmEndpointName, ownPath: string, model: string, isStreaming: boolean): string {
  if (ownPath !== "") return ownPath.replace(/^[ /]+/, "");
  const { path, streamPath }: LlmEndpoint = LLM_ENDPOINTS[name];
  return ((isStreaming ? streamPath : undefined) ?? path).replace("{MODEL}", model);
}
