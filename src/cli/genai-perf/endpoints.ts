import { LLM_ENDPOINTS, type LlmEndpointName } from "../../service/openai/endpoints.ts";
import type { RequestForm } from "../../service/service.ts";

/** The endpoint types of genai-perf: which endpoint each one is, where it posts to, and what it counts as. */

/** Which client of perf_analyzer the original uses. */
export type ServiceKind = "openai" | "triton" | "tensorrtllm_engine" | "dynamic_grpc";

/** One endpoint type. */
export interface EndpointType {
  /** The endpoint, which says what bodies and answers are. Null: none of those, or nothing serves it yet. */
  readonly endpoint: LlmEndpointName | null;
  /** Path without a leading slash; `{MODEL}` stands for the first model. Null: the protocol has none. */
  readonly path: string | null;
  readonly serviceKind: ServiceKind;
  /** What its requests are here. */
  readonly takes: RequestForm;
  /** The original's name of the request's format, as its JSON export gives it. Null: the backend's name. */
  readonly outputFormat: string | null;
}

/** @param path where it is another than the endpoint's */
function payloads(
  endpoint: LlmEndpointName,
  outputFormat: string,
  path: string = LLM_ENDPOINTS[endpoint].path,
): EndpointType {
  return { endpoint, path, serviceKind: "openai", takes: "payloads", outputFormat };
}

function without(serviceKind: ServiceKind, outputFormat: string | null, takes: RequestForm = "tensors"): EndpointType {
  return { endpoint: null, path: null, serviceKind, takes, outputFormat };
}

/** The original's, by the value of `--endpoint-type`, in its order. */
const ORIGINAL_TYPES = {
  chat: payloads("chat", "openai_chat_completions"),
  completions: payloads("completions", "openai_completions"),
  dynamic_grpc: without("dynamic_grpc", "dynamic_grpc"),
  embeddings: payloads("embeddings", "openai_embeddings"),
  huggingface_generate: payloads("huggingfaceGenerate", "huggingface_generate", "."),
  image_retrieval: payloads("imageRetrieval", "image_retrieval"),
  nvclip: payloads("nvclip", "nvclip"),
  rankings: payloads("rankings", "rankings"),
  multimodal: payloads("multimodal", "openai_multimodal"),
  generate: payloads("generate", "triton_generate"),
  kserve: without("triton", null),
  // The original takes it for a model of Triton's over gRPC, where no such request can succeed.
  template: without("openai", "template", "payloads"),
  tensorrtllm_engine: without("tensorrtllm_engine", "tensorrtllm_engine"),
  vision: payloads("multimodal", "openai_multimodal"),
};

/** Rampart's own. */
const OWN_TYPES = {
  responses: payloads("responses", "openai_responses"),
  messages: payloads("messages", "anthropic_messages"),
  cohere_rankings: payloads("cohereRankings", "cohere_rankings"),
  tei_rankings: payloads("teiRankings", "tei_rankings"),
  generate_stream: payloads("generate", "triton_generate", LLM_ENDPOINTS.generate.streamPath),
};

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
  return (ENDPOINT_TYPES[type].path ?? "").replace("{MODEL}", model);
}
