import { isObject, parseJson } from "../../plan/objects.ts";
import type { ResponseKind } from "./response-kind.ts";
import { countIds, toText } from "./response-parts.ts";

/**
 * Counts the tokens of a request's texts, and of prompts that are lists of token ids. The sum is its input length.
 * @param body the request's body as JSON @param joins whether the texts are counted as one, joined by spaces, like in GenAI-Perf. Default:
 * each text is counted separately, because chat templates separate messages, and servers separate the texts of a batch
 * @throws SyntaxError when the body is not JSON
 */
export function countRequestTokens(
  kind: ResponseKind,
  body: string,
  countTokens: (text: string) => number,
  joins = false,
): number {
  const payload: unknown = JSON.parse(body);
  const texts = textsOfRequest(kind, payload);
  if (joins) return countText(texts.join(" "), countTokens);
  const ids = isObject(payload) ? countNumbers(payload["prompt"] ?? payload["input"]) : 0;
  // A text of a batch may be an image, as NV-CLIP accepts them.
  const counted = texts.filter((text) => !text.startsWith("data:image/"));
  return counted.reduce((sum, text) => sum + countText(text, countTokens), ids);
}

function countText(text: string, countTokens: (text: string) => number): number {
  return text === "" ? 0 : countTokens(text);
}

/** Counts the numbers in lists of any depth. Each number is a token id. */
function countNumbers(value: unknown): number {
  if (typeof value === "number") return 1;
  return Array.isArray(value) ? value.reduce((sum: number, each: unknown) => sum + countNumbers(each), 0) : 0;
}

/**
 * Returns the texts of a request. For chats: the contents of all messages, without roles and the server's chat template. For content in parts:
 * the text parts, not images and audio. For batches: each text.
 */
function textsOfRequest(kind: ResponseKind, payload: unknown): readonly string[] {
  if (!isObject(payload)) return [];
  switch (kind) {
    case "chat":
    case "multimodal":
      return textsOf(payload["messages"]);
    case "anthropic":
      return [...withoutEmpty(joinTexts(payload["system"])), ...textsOf(payload["messages"])];
    case "responses":
      return [...withoutEmpty(joinTexts(payload["instructions"])), ...textsOfInput(payload["input"])];
    default:
      return readPrompts(kind, payload);
  }
}

/** Returns the texts of a request without messages. */
function readPrompts(kind: ResponseKind, payload: Readonly<Record<string, unknown>>): readonly string[] {
  switch (kind) {
    case "completions":
      return listTexts(payload["prompt"]);
    case "generate":
    case "kserve":
      return listTexts(payload["text_input"]);
    case "huggingface-generate":
      return listTexts(payload["inputs"]);
    case "embeddings":
    case "nvclip":
      return listTexts(payload["input"]);
    case "rankings": {
      const passages = listTexts(payload["passages"] ?? payload["documents"] ?? payload["texts"]);
      return [...withoutEmpty(joinTexts(payload["query"])), ...(passages.join(" ") === "" ? [] : passages)];
    }
    // Other kinds have no prompts. Only the template determines which texts of `custom` are prompts.
    default:
      return [];
  }
}

/**
 * Returns the number of input tokens of a request with ids instead of text; undefined for other requests.
 * @param body the request's body as JSON
 * @throws SyntaxError if the body is not JSON
 */
export function countRequestIds(kind: ResponseKind, body: string): number | undefined {
  if (kind !== "token-ids") return undefined;
  const payload: unknown = JSON.parse(body);
  return isObject(payload) ? countIds(payload["input_ids"]) : 0;
}

/**
 * Returns the maximum number of output tokens that a request allows, over all its choices; NaN without a limit.
 * @param body the request's body as JSON
 * @throws SyntaxError if the body is not JSON
 */
export function readTokenLimit(kind: ResponseKind, body: string): number {
  const payload: unknown = JSON.parse(body);
  if (!isObject(payload)) return Number.NaN;
  const { parameters, sampling_parameters: sampling } = payload;
  const places = [payload, parameters, kind === "kserve" ? parseText(sampling) : undefined];
  for (const place of places)
    for (const key of LIMIT_KEYS) {
      const limit = isObject(place) ? toNumber(place[key]) : Number.NaN;
      if (!Number.isNaN(limit)) return limit * (CHOOSING.has(kind) ? countChoices(payload) : 1);
    }
  return Number.NaN;
}

/** Kinds of responses with choices. */
const CHOOSING: ReadonlySet<ResponseKind> = new Set(["chat", "multimodal", "completions"]);

/** Counts the choices of a response: `n` for each prompt. A list of numbers is one prompt. */
function countChoices({ n, prompt }: Readonly<Record<string, unknown>>): number {
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== "number" ? prompt.length : 1;
  return (toNumber(n) || 1) * prompts;
}

/** Parses JSON in a string, or in a list of one string; undefined for anything else. */
function parseText(value: unknown): unknown {
  const text: unknown = Array.isArray(value) ? value[0] : value;
  return typeof text === "string" ? parseJson(text) : undefined;
}

/** Names of the limit. Chats may have two of them; the first one counts. */
const LIMIT_KEYS = ["max_completion_tokens", "max_tokens", "max_output_tokens", "max_new_tokens", "request_output_len"];

/** Converts a number. Triton has it in a list, and vLLM in a string. */
function toNumber(value: unknown): number {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === "number" || (typeof one === "string" && one.trim() !== "") ? Number(one) : Number.NaN;
}

/** Returns the number of images in an image retrieval request. @throws SyntaxError when the body is not JSON */
export function countImages(body: string): number {
  const payload: unknown = JSON.parse(body);
  const input = isObject(payload) ? payload["input"] : undefined;
  return Array.isArray(input) ? input.filter((item) => isObject(item) && item["type"] === "image_url").length : 0;
}

function textsOf(messages: unknown): readonly string[] {
  return Array.isArray(messages)
    ? messages.map((message) => (isObject(message) ? joinTexts(message["content"]) : ""))
    : [];
}

function textsOfInput(input: unknown): readonly string[] {
  return Array.isArray(input) && input.some((item) => isObject(item) && "content" in item)
    ? textsOf(input)
    : withoutEmpty(joinTexts(input));
}

function withoutEmpty(text: string): readonly string[] {
  return text === "" ? [] : [text];
}

/** Returns a text, or the texts of a list joined by spaces. */
function joinTexts(value: unknown): string {
  return listTexts(value).join(" ");
}

function listTexts(value: unknown): readonly string[] {
  if (isObject(value)) return [toText(value["text"])];
  if (!Array.isArray(value)) return [toText(value)];
  return value
    .filter((part) => typeof part === "string" || (isObject(part) && typeof part["text"] === "string"))
    .map((part) => (isObject(part) ? toText(part["text"]) : toText(part)));
}
