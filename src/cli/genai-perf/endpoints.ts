/** The endpoint types of genai-perf: where each one posts to, and what it counts as. */

/** Which client of perf_analyzer the original uses. */
export type ServiceKind = "openai" | "triton" | "tensorrtllm_engine" | "dynamic_grpc";

/** One endpoint type. */
export interface EndpointType {
  /** Path without a leading slash; `{MODEL_NAME}` stands for the first model. Null: the protocol has none. */
  readonly path: string | null;
  readonly serviceKind: ServiceKind;
  /** The original's name of the request's format, as its JSON export gives it. Null: the backend's name. */
  readonly outputFormat: string | null;
}

/** The original's, by the value of `--endpoint-type`, in its order. */
const ORIGINAL_TYPES = {
  chat: { path: "v1/chat/completions", serviceKind: "openai", outputFormat: "openai_chat_completions" },
  completions: { path: "v1/completions", serviceKind: "openai", outputFormat: "openai_completions" },
  dynamic_grpc: { path: null, serviceKind: "dynamic_grpc", outputFormat: "dynamic_grpc" },
  embeddings: { path: "v1/embeddings", serviceKind: "openai", outputFormat: "openai_embeddings" },
  huggingface_generate: { path: ".", serviceKind: "openai", outputFormat: "huggingface_generate" },
  image_retrieval: { path: "v1/infer", serviceKind: "openai", outputFormat: "image_retrieval" },
  nvclip: { path: "v1/embeddings", serviceKind: "openai", outputFormat: "nvclip" },
  rankings: { path: "v1/ranking", serviceKind: "openai", outputFormat: "rankings" },
  multimodal: { path: "v1/chat/completions", serviceKind: "openai", outputFormat: "openai_multimodal" },
  generate: { path: "v2/models/{MODEL_NAME}/generate", serviceKind: "openai", outputFormat: "triton_generate" },
  kserve: { path: null, serviceKind: "triton", outputFormat: null },
  // The original takes it for a model of Triton's over gRPC, where no such request can succeed.
  template: { path: null, serviceKind: "openai", outputFormat: "template" },
  tensorrtllm_engine: { path: null, serviceKind: "tensorrtllm_engine", outputFormat: "tensorrtllm_engine" },
  vision: { path: "v1/chat/completions", serviceKind: "openai", outputFormat: "openai_multimodal" },
} as const satisfies Record<string, EndpointType>;

/** Rampart's own. */
const OWN_TYPES = {
  responses: { path: "v1/responses", serviceKind: "openai", outputFormat: "openai_responses" },
  messages: { path: "v1/messages", serviceKind: "openai", outputFormat: "anthropic_messages" },
  cohere_rankings: { path: "v2/rerank", serviceKind: "openai", outputFormat: "cohere_rankings" },
  tei_rankings: { path: "rerank", serviceKind: "openai", outputFormat: "tei_rankings" },
  generate_stream: {
    path: "v2/models/{MODEL_NAME}/generate_stream",
    serviceKind: "openai",
    outputFormat: "triton_generate",
  },
} as const satisfies Record<string, EndpointType>;

/** All of them. */
export const ENDPOINT_TYPES = { ...ORIGINAL_TYPES, ...OWN_TYPES };

/** Names that the original's usage shows. */
export const ORIGINAL_TYPE_NAMES: readonly string[] = Object.keys(ORIGINAL_TYPES);

/** Names beyond the original's. */
export const OWN_TYPE_NAMES: readonly string[] = Object.keys(OWN_TYPES);

/** Types whose answer ranks passages. */
export const RANKING_TYPES: readonly EndpointTypeName[] = ["rankings", "cohere_rankings", "tei_rankings"];

/** Types whose answer comes in one piece and has no tokens. */
export const TOKENLESS_TYPES: readonly EndpointTypeName[] = [
  "image_retrieval",
  "nvclip",
  "embeddings",
  ...RANKING_TYPES,
];

/** A value of `--endpoint-type`. */
export type EndpointTypeName = keyof typeof ENDPOINT_TYPES;

/** The path that requests go to: the user's own without leading slashes and blanks, or the type's; empty when there is none. */
export function endpointPath(type: EndpointTypeName, ownPath: string, model: string): string {
  if (ownPath !== "") return ownPath.replace(/^[ /]+/, "");
  return (ENDPOINT_TYPES[type].path ?? "").replace("{MODEL_NAME}", model);
}
