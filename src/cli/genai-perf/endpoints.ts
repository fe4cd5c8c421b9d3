import { LLM_ENDPOINTS, type LlmEndpointName } from "../../service/openai/endpoints.ts";
import type { RequestForm } from "../../service/service.ts";

/** The client of perf_analyzer that GenAI-Perf uses. */
export type ServiceKind = "openai" | "triton" | "tensorrtllm_engine" | "dynamic_grpc";

/** One endpoint type. */
export interface EndpointType {
  /** The endpoint, which determines the format of bodies and answers. Null: another format, or one that is not supported yet. */
  readonly endpoint: LlmEndpointName | null;
  /** Path without a leading slash; `{MODEL}` stands for the first model. Null: the protocol has no paths. */
  readonly path: string | null;
  readonly serviceKind: ServiceKind;
  /** Form of its requests. */
  readonly takes: RequestForm;
  /** GenAI-Perf's name of the request format in its JSON export. Null: the backend's name. */
  readonly outputFormat: string | null;
}

/** @param path the path, if it differs from the endpoint's */
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

/** GenAI-Perf's types by the value of `--endpoint-type`, in its order. */
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
  // GenAI-Perf treats it as a Triton model over gRPC, for which no such request can succeed.
  template: without("openai", "template", "payloads"),
  tensorrtllm_engine: without("tensorrtllm_engine", "tensorrtllm_engine"),
  vision: payloads("multimodal", "openai_multimodal"),
};

/** Types that Rampart adds. */
const OWN_TYPES = {
  responses: payloads("responses", "openai_responses"),
  messages: payloads("messages", "anthropic_messages"),
  cohere_rankings: payloads("cohereRankings", "cohere_rankings"),
  tei_rankings: payloads("teiRankings", "tei_rankings"),
  generate_stream: payloads("generate", "triton_generate", LLM_ENDPOINTS.generate.streamPath),
};

/** All endpoint types. */
export const ENDPOINT_TYPES = { ...ORIGINAL_TYPES, ...OWN_TYPES };

/** Names in GenAI-Perf's usage. */
export const ORIGINAL_TYPE_NAMES: readonly string[] = Object.keys(ORIGINAL_TYPES);

/** Names that Rampart adds. */
export const OWN_TYPE_NAMES: readonly string[] = Object.keys(OWN_TYPES);

/** Types whose answers rank passages. */
export const RANKING_TYPES: readonly EndpointTypeName[] = ["rankings", "cohere_rankings", "tei_rankings"];

/** Types whose answers arrive whole and have no tokens. */
export const TOKENLESS_TYPES: readonly EndpointTypeName[] = [
  "image_retrieval",
  "nvclip",
  "embeddings",
  ...RANKING_TYPES,
];

/** A value of `--endpoint-type`. */
export type EndpointTypeName = keyof typeof ENDPOINT_TYPES;

/** Returns the path of requests: the user's path without leading slashes and spaces, or the type's; empty if there is none. */
export function endpointPath(type: EndpointTypeName, ownPath: string, model: string): string {
  if (ownPath !== "") return ownPath.replace(/^[ /]+/, "");
  return (ENDPOINT_TYPES[type].path ?? "").replace("{MODEL}", model);
}
