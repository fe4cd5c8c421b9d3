import { LLM_ENDPOINTS, type LlmEndpointName } from "../../service/openai/endpoints.ts";

/** Client of perf_analyzer that GenAI-Perf uses. */
export type ServiceKind = "openai" | "triton" | "tensorrtllm_engine" | "dynamic_grpc";

/** An endpoint type: everything that the rest of the mode asks about it. */
export interface EndpointType {
  /** The endpoint, which determines the format of bodies and responses. Null: another format. */
  readonly endpoint: LlmEndpointName | null;
  /** Path without a leading slash; `{MODEL}` is replaced by the first model. Null: the protocol has no paths. */
  readonly path: string | null;
  readonly serviceKind: ServiceKind;
  /** True if requests are payloads, false if they are tensors. */
  readonly takesPayloads: boolean;
  /** GenAI-Perf's name of the request format in its JSON export. Null: the backend's name. */
  readonly outputFormat: string | null;
  /** GenAI-Perf's type for the report's title. Default: this type. */
  readonly title?: string;
  /** True for a model of Triton over gRPC, whose tensors `--backend` determines. */
  readonly isTritonModel?: true;
  /** True if `--output-tokens-mean-deterministic` works, because the server has a field for it. */
  readonly hasExactOutput?: true;
  /** True if bodies come from the user's template. */
  readonly usesTemplate?: true;
  /** True if requests are calls of the method `--grpc-method`, whose messages a command writes. */
  readonly callsMethod?: true;
  /** True if requests and responses have token ids, as tensors of the engine of TensorRT-LLM. */
  readonly hasTokenIds?: true;
  /** True if the server is Triton's library in a separate process, from `--triton-server-directory` and `--model-repository` after `--`. */
  readonly isInProcess?: true;
  readonly alwaysStreams?: true;
  readonly takesImages?: true;
  readonly takesSounds?: true;
  /** True if a body contains a single text. */
  readonly takesOneText?: true;
  readonly isTextless?: true;
  /** True if responses rank passages. */
  readonly isRanking?: true;
  /** Header that contains only the API key. Default: `Authorization`, as a bearer token. */
  readonly keyHeader?: string;
  /** Headers that its servers require. The user's headers take precedence. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

function payloads(endpoint: LlmEndpointName, outputFormat: string, more: Partial<EndpointType> = {}): EndpointType {
  const { path } = LLM_ENDPOINTS[endpoint];
  return { endpoint, path, serviceKind: "openai", takesPayloads: true, outputFormat, ...more };
}

function tensors(serviceKind: ServiceKind, more: Partial<EndpointType>): EndpointType {
  return { endpoint: null, path: null, serviceKind, takesPayloads: false, outputFormat: null, ...more };
}

const MULTIMODAL = { takesImages: true, takesSounds: true, takesOneText: true } as const;

/** GenAI-Perf's types by the value of `--endpoint-type`, in GenAI-Perf's order. */
const ORIGINAL_TYPES = {
  chat: payloads("chat", "openai_chat_completions", { takesOneText: true }),
  completions: payloads("completions", "openai_completions"),
  dynamic_grpc: tensors("dynamic_grpc", { outputFormat: "dynamic_grpc", callsMethod: true, takesOneText: true }),
  embeddings: payloads("embeddings", "openai_embeddings"),
  huggingface_generate: payloads("huggingfaceGenerate", "huggingface_generate", { path: ".", takesImages: true }),
  image_retrieval: payloads("imageRetrieval", "image_retrieval", { takesImages: true, isTextless: true }),
  nvclip: payloads("nvclip", "nvclip", { takesImages: true }),
  rankings: payloads("rankings", "rankings", { isRanking: true }),
  multimodal: payloads("multimodal", "openai_multimodal", MULTIMODAL),
  generate: payloads("generate", "triton_generate"),
  kserve: tensors("triton", { isTritonModel: true, hasExactOutput: true, takesOneText: true }),
  // GenAI-Perf treats it as a Triton model over gRPC, for which no such request can succeed.
  template: {
    endpoint: null,
    path: null,
    serviceKind: "openai",
    takesPayloads: true,
    outputFormat: "template",
    usesTemplate: true,
    takesImages: true,
    takesSounds: true,
  },
  tensorrtllm_engine: tensors("tensorrtllm_engine", {
    outputFormat: "tensorrtllm_engine",
    hasTokenIds: true,
    isInProcess: true,
    hasExactOutput: true,
    takesOneText: true,
  }),
  vision: payloads("multimodal", "openai_multimodal", MULTIMODAL),
} satisfies Readonly<Record<string, EndpointType>>;

const RAMPART_TYPES = {
  responses: payloads("responses", "openai_responses", { takesImages: true, takesOneText: true }),
  messages: payloads("messages", "anthropic_messages", {
    takesImages: true,
    takesOneText: true,
    keyHeader: "x-api-key",
    // The only version that exists.
    headers: [["anthropic-version", "2023-06-01"]],
  }),
  cohere_rankings: payloads("cohereRankings", "cohere_rankings", { isRanking: true, title: "rankings" }),
  tei_rankings: payloads("teiRankings", "tei_rankings", { isRanking: true, title: "rankings" }),
  generate_stream: payloads("generate", "triton_generate", {
    path: LLM_ENDPOINTS.generate.streamPath,
    alwaysStreams: true,
  }),
};

/** All endpoint types. */
export const ENDPOINT_TYPES: Readonly<Record<EndpointTypeName, EndpointType>> = { ...ORIGINAL_TYPES, ...RAMPART_TYPES };

/** Type names in GenAI-Perf's usage. */
export const ORIGINAL_TYPE_NAMES: readonly string[] = Object.keys(ORIGINAL_TYPES);

/** Type names that Rampart adds. */
export const RAMPART_TYPE_NAMES: readonly string[] = Object.keys(RAMPART_TYPES);

/** A value of `--endpoint-type`. */
export type EndpointTypeName = keyof typeof ORIGINAL_TYPES | keyof typeof RAMPART_TYPES;

/** Returns the path of requests: the user's path without leading slashes and spaces, or the type's; empty if there is none. */
export function endpointPath(type: EndpointTypeName, ownPath: string, model: string): string {
  if (ownPath !== "") return ownPath.replace(/^[ /]+/, "");
  return (ENDPOINT_TYPES[type].path ?? "").replace("{MODEL}", model);
}
