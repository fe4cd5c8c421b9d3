/** The kind of a service's responses, which determines where their text is. */

export type ResponseKind =
  | "chat"
  | "multimodal"
  | "completions"
  | "responses"
  | "anthropic"
  | "embeddings"
  | "nvclip"
  | "rankings"
  | "image-retrieval"
  | "generate"
  | "huggingface-generate"
  | "kserve"
  /** Triton's tensors with token ids instead of text, as in the engine of TensorRT-LLM. */
  | "token-ids"
  /** Calls of any gRPC method. */
  | "grpc"
  /** Any other form, as templates request. */
  | "custom";

/** Responses without text; only their latency is measured. */
const WITHOUT_TEXT: ReadonlySet<ResponseKind> = new Set([
  "embeddings",
  "nvclip",
  "rankings",
  "image-retrieval",
  "grpc",
]);

/** Whether responses of this kind have text or its token ids, and therefore tokens. */
export function hasText(kind: ResponseKind): boolean {
  return !WITHOUT_TEXT.has(kind);
}

/** Responses whose content is tensors by name. */
const TENSORS: ReadonlySet<ResponseKind> = new Set(["kserve", "token-ids"]);

/** Whether responses of this kind are tensors by name instead of text. */
export function hasTensors(kind: ResponseKind): boolean {
  return TENSORS.has(kind);
}

/** Path endings. An ending that contains another one comes first. */
const PATHS: readonly (readonly [ending: string, kind: ResponseKind])[] = [
  ["v1/chat/completions", "chat"],
  ["v1/completions", "completions"],
  ["v1/responses", "responses"],
  ["v1/messages", "anthropic"],
  ["v1/embeddings", "embeddings"],
  ["v1/ranking", "rankings"],
  ["v1/infer", "image-retrieval"],
  ["rerank", "rankings"],
];

/**
 * Words in a first response; the first match determines the kind. Ordered like in GenAI-Perf, followed by kinds that GenAI-Perf
 * does not know.
 */
const WORDS: readonly (readonly [word: string, kind: ResponseKind])[] = [
  ["chat.completion", "chat"],
  ["text_completion", "completions"],
  ['"object":"response"', "responses"],
  ["response.created", "responses"],
  ["message_start", "anthropic"],
  ['"type":"message"', "anthropic"],
  ["embedding", "embeddings"],
  ["ranking", "rankings"],
  ["relevance_score", "rankings"],
  ["image_retrieval", "image-retrieval"],
  ["bounding_boxes", "image-retrieval"],
  ["generated_text", "huggingface-generate"],
  ["text_output", "generate"],
];

/**
 * Detects the kind of a recorded service's responses from its service kind and path, or for other paths from words in its first response.
 * @param payload the first request's body
 * @param response the first response
 * @returns undefined if the kind cannot be determined
 */
export function detectResponseKind(
  serviceKind: string,
  endpoint: string,
  payload: string,
  response: string,
): ResponseKind | undefined {
  if (serviceKind === "triton") return "kserve";
  if (serviceKind === "dynamic_grpc") return "grpc";
  if (serviceKind === "triton_c_api") return "token-ids";
  if (serviceKind !== "openai") return undefined;
  const found = findKind(endpoint.replace(/[?#].*$/, "").replace(/\/+$/, ""), response);
  return found === "chat" && /"?(image_url|input_audio)/.test(payload) ? "multimodal" : found;
}

function findKind(path: string, response: string): ResponseKind | undefined {
  const known = PATHS.find(([ending]) => path === ending || path.endsWith(`/${ending}`));
  if (known !== undefined) return known[1];
  if (path.toLowerCase().includes("huggingface/generate")) return "huggingface-generate";
  // JSON may have spaces after colons; the words here have none.
  const words = response.replaceAll('": "', '":"');
  const match = WORDS.find(([word]) => words.includes(word));
  if (match !== undefined) return match[1];
  return /\/generate(_stream)?$/.test(path) ? "generate" : undefined;
}
