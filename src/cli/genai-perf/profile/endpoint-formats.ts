import type { AnswerKind } from "../../../service/openai/answer-kind.ts";
import type { PayloadFormat } from "../../../service/openai/payload.ts";
import type { EndpointTypeName } from "../endpoints.ts";
import type { GenaiSettings } from "../settings.ts";

/** How each endpoint type is written to and read. */

interface Format {
  readonly payload: PayloadFormat | "template";
  readonly answer: AnswerKind;
  /** The original's type whose title the report has, where it is not its own. */
  readonly title?: EndpointTypeName;
}

const FORMATS: Readonly<Partial<Record<EndpointTypeName, Format>>> = {
  chat: { payload: "chat", answer: "chat" },
  completions: { payload: "completions", answer: "completions" },
  embeddings: { payload: "embeddings", answer: "embeddings" },
  huggingface_generate: { payload: "huggingface_generate", answer: "huggingface-generate" },
  image_retrieval: { payload: "image_retrieval", answer: "image-retrieval" },
  nvclip: { payload: "nvclip", answer: "nvclip" },
  rankings: { payload: "rankings", answer: "rankings" },
  multimodal: { payload: "multimodal", answer: "multimodal" },
  vision: { payload: "multimodal", answer: "multimodal", title: "multimodal" },
  generate: { payload: "generate", answer: "generate" },
  generate_stream: { payload: "generate", answer: "generate" },
  responses: { payload: "responses", answer: "responses" },
  messages: { payload: "messages", answer: "anthropic" },
  cohere_rankings: { payload: "cohere_rankings", answer: "rankings", title: "rankings" },
  template: { payload: "template", answer: "custom" },
  tei_rankings: { payload: "tei_rankings", answer: "rankings", title: "rankings" },
};

/** The format of an endpoint's bodies and answers; undefined for those that nothing serves yet. */
export function formatOf({ type, backend }: GenaiSettings["endpoint"]): Format | undefined {
  return type === "kserve" ? { payload: backend, answer: "kserve" } : FORMATS[type];
}
