import { defined } from "../../plan/objects.ts";
import { createRandomFor, drawIndex } from "../../runtime/random.ts";
import type { Json, JsonObject, PromptEntry } from "./prompt-entry.ts";

/** Request bodies, with their keys in GenAI-Perf's order (`responses` and `messages`: AIPerf's). */

/** The format of a body. An endpoint's path does not determine it. */
export type PayloadFormat = keyof typeof FORMATS;

/** Settings that all requests of a run share. */
export interface PayloadSettings extends LayoutSettings {
  readonly format: PayloadFormat;
}

/** Settings of every format. */
export interface LayoutSettings {
  /** At least one. */
  readonly models: readonly string[];
  /** Chooses the model of an entry without one: `round_robin` by position, or `random`. */
  readonly modelSelection: "round_robin" | "random";
  /** Seed of the random choice of models. */
  readonly seed: number;
  readonly isStreaming: boolean;
  /**
   * Whether to request the server's token counts at the end of streams of OpenAI's chats and completions
   * (`stream_options.include_usage`), unlike GenAI-Perf. Default: false.
   */
  readonly asksUsage?: boolean;
  /** Whether the minimum number of output tokens equals the maximum; only for Triton's backends. */
  readonly hasExactOutput: boolean;
  /** Keys from `extra_inputs`, merged over the format's keys. An entry's own `extra` takes precedence. */
  readonly extra: JsonObject;
}

/** A request's body and its timing. */
export interface Payload {
  readonly body: JsonObject;
  /** True for Triton's tensors, whose values are lists by name. */
  readonly isTensors: boolean;
  readonly sessionId?: string;
  readonly delayMs?: number;
  readonly timestampMs?: number;
}

interface Format {
  readonly isTensors?: true;
  /** Builds the body without the user's additional keys. */
  build(entry: PromptEntry, model: string, settings: PayloadSettings): JsonObject;
  /** Adds an additional key. Absent: the key is merged unchanged. */
  merge?(body: JsonObject, key: string, value: Json): JsonObject;
}

/** Default output length, because the tensorrtllm backend has no default. */
const TENSORRTLLM_MAX_TOKENS = 256;

const tensors = {
  isTensors: true,
  merge: (body, key, value) => ({ ...body, [key]: [value] }),
} as const satisfies Partial<Format>;

const FORMATS = {
  chat: {
    build: (entry, model, settings) => ({
      model,
      messages: chatMessages(entry, textOf(entry)),
      ...countedStream(entry, settings),
    }),
  },
  multimodal: {
    build: (entry, model, settings) => ({
      model,
      messages: chatMessages(entry, multimodalParts(entry)),
      ...countedStream(entry, settings),
    }),
  },
  completions: {
    build: (entry, model, settings) => ({ model, prompt: entry.texts, ...countedStream(entry, settings) }),
  },
  responses: {
    build: (entry, model, settings) => ({
      input: responsesInput(entry),
      model,
      ...streamOf(settings),
      ...defined({ max_output_tokens: entry.maxTokens }),
    }),
  },
  messages: { build: (entry, model, settings) => ({ ...toMessagesBody(entry, model), ...streamOf(settings) }) },
  embeddings: { build: (entry, model) => ({ model, input: entry.texts }) },
  nvclip: { build: (entry, model) => ({ model, input: [...entry.texts, ...(entry.images ?? [])] }) },
  image_retrieval: {
    build: (entry) => ({ input: (entry.images ?? []).map((url) => ({ type: "image_url", url })) }),
  },
  /** NVIDIA NIM's. */
  rankings: {
    build: (entry, model) => ({
      query: { text: textOf(entry) },
      passages: (entry.passages ?? []).map((text) => ({ text })),
      model,
    }),
  },
  cohere_rankings: {
    build: (entry, model) => ({ model, query: textOf(entry), documents: entry.passages ?? [] }),
  },
  /** Hugging Face's Text Embeddings Inference. */
  tei_rankings: { build: (entry) => ({ query: textOf(entry), texts: entry.passages ?? [] }) },
  /** Triton's generate extension. */
  generate: {
    build: (entry, _model, settings) => ({ text_input: entry.texts, ...streamAndLength(entry, settings) }),
  },
  /** Text Generation Inference. The path `/` streams only where the body says so; `/generate_stream` always does. */
  huggingface_generate: {
    build: (entry, model, settings) => ({
      model,
      inputs: [...(entry.images ?? []).map((image) => `![](${image})`), ...entry.texts].join(" "),
      ...(entry.maxTokens === undefined ? {} : { parameters: { max_new_tokens: entry.maxTokens } }),
      ...streamOf(settings),
    }),
    merge: mergeParameter,
  },
  tensorrtllm: {
    ...tensors,
    build: (entry, model, settings) => ({
      model,
      text_input: [textOf(entry)],
      max_tokens: [entry.maxTokens ?? TENSORRTLLM_MAX_TOKENS],
      exclude_input_in_output: [true],
      ...(settings.isStreaming ? { stream: [true] } : {}),
      ...(settings.hasExactOutput && entry.maxTokens !== undefined ? { min_length: [entry.maxTokens] } : {}),
    }),
  },
  vllm: {
    ...tensors,
    build: (entry, model, settings) => ({
      model,
      text_input: entry.texts,
      exclude_input_in_output: [true],
      ...(settings.isStreaming ? { stream: [true] } : {}),
      ...samplingParameters(entry, settings),
    }),
  },
} as const satisfies Record<string, Format>;

/** Creates the body of one entry. @param position position of the entry among all entries, from 0; may determine its model */
export function createPayload(entry: PromptEntry, position: number, settings: PayloadSettings): Payload {
  const asksForTei = settings.format === "rankings" && settings.extra["rankings"] === "tei";
  const format: Format = asksForTei ? FORMATS.tei_rankings : FORMATS[settings.format];
  const model = entry.model ?? selectModel(settings, position);
  let body = format.build(entry, model, settings);
  const added = [...Object.entries(settings.extra), ...Object.entries(entry.extra ?? {})];
  for (const [key, value] of added) {
    // Selects the format in GenAI-Perf; not sent to the server.
    if (asksForTei && key === "rankings") continue;
    body = format.merge === undefined ? { ...body, [key]: value } : format.merge(body, key, value);
  }
  return finishPayload(body, entry, format.isTensors === true);
}

/** Adds an entry's timing to its body. */
export function finishPayload(
  body: JsonObject,
  { sessionId, delayMs, timestampMs }: PromptEntry,
  isTensors = false,
): Payload {
  return {
    body,
    isTensors,
    ...defined({ sessionId, delayMs, timestampMs }),
  };
}

/** Chooses the model of an entry without one. */
export function selectModel({ models, modelSelection, seed }: LayoutSettings, position: number): string {
  const index =
    modelSelection === "random"
      ? drawIndex(createRandomFor(seed, "model", position), models.length)
      : position % models.length;
  return models[index] as string;
}

function textOf(entry: PromptEntry): string {
  return entry.texts[0] ?? "";
}

function streamOf(settings: PayloadSettings): JsonObject {
  return settings.isStreaming ? { stream: true } : {};
}

function streamAndLength(entry: PromptEntry, settings: PayloadSettings): JsonObject {
  return { ...streamOf(settings), ...defined({ max_tokens: entry.maxTokens }) };
}

/** Like {@link streamAndLength}, for services that report the token counts of a stream only on request. */
function countedStream(entry: PromptEntry, settings: PayloadSettings): JsonObject {
  const { stream, ...length } = streamAndLength(entry, settings);
  if (stream === undefined) return length;
  return { stream, ...(settings.asksUsage === true ? { stream_options: { include_usage: true } } : {}), ...length };
}

/** vLLM's backend takes its parameters as JSON text with numbers as strings. */
function samplingParameters(entry: PromptEntry, settings: PayloadSettings): JsonObject {
  if (entry.maxTokens === undefined) return {};
  const count = String(entry.maxTokens);
  const parameters = { max_tokens: count, ...(settings.hasExactOutput ? { min_tokens: count } : {}) };
  return { sampling_parameters: [JSON.stringify(parameters)] };
}

/** Replaces a key that exists in `parameters`, and adds other keys beside `parameters`. */
function mergeParameter(body: JsonObject, key: string, value: Json): JsonObject {
  const parameters = body["parameters"] as JsonObject | undefined;
  if (parameters === undefined || !(key in parameters)) return { ...body, [key]: value };
  return { ...body, parameters: { ...parameters, [key]: value } };
}

/** The Anthropic API rejects requests without a limit. */
const MESSAGES_MAX_TOKENS = 1024;

/** Returns the system message, if present, and the prompt as chat messages. */
function chatMessages(entry: PromptEntry, content: Json): JsonObject[] {
  const system = entry.system === undefined ? [] : [{ role: "system", content: entry.system }];
  return [...system, { role: "user", content }];
}

/** Returns a prompt's texts, images and audio as the parts of one chat message. */
function multimodalParts(entry: PromptEntry): JsonObject[] {
  return [
    ...entry.texts.map((text) => ({ type: "text", text })),
    ...(entry.images ?? []).map((url) => ({ type: "image_url", image_url: { url } })),
    ...(entry.audio ?? []).map(({ base64, format }) => ({
      type: "input_audio",
      input_audio: { data: base64, format },
    })),
  ];
}

/** Returns the `input` of OpenAI's responses endpoint. */
function responsesInput(entry: PromptEntry): JsonObject[] {
  const content: Json =
    entry.images === undefined || entry.images.length === 0
      ? (entry.texts[0] ?? "")
      : [
          ...entry.texts.map((text) => ({ type: "input_text", text })),
          ...entry.images.map((url) => ({ type: "input_image", image_url: url })),
        ];
  return chatMessages(entry, content).map((message) => ({ ...message, type: "message" }));
}

/** Returns a request to Anthropic's messages endpoint, which has a separate field for the system message. */
function toMessagesBody(entry: PromptEntry, model: string): JsonObject {
  const content: Json =
    entry.images === undefined || entry.images.length === 0
      ? (entry.texts[0] ?? "")
      : [
          ...entry.images.map((url) => ({ type: "image", source: imageSource(url) })),
          ...entry.texts.map((text) => ({ type: "text", text })),
        ];
  return {
    model,
    messages: [{ role: "user", content }],
    ...defined({ system: entry.system }),
    max_tokens: entry.maxTokens ?? MESSAGES_MAX_TOKENS,
  };
}

function imageSource(url: string): JsonObject {
  const parts = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (parts === null) return { type: "url", url };
  return { type: "base64", media_type: parts[1] as string, data: parts[2] as string };
}
