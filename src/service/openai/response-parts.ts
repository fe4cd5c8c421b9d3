import { defined, isObject } from "../../plan/objects.ts";
import { writeJson } from "../../plan/show-value.ts";
import type { ResponseField } from "./response-field.ts";
import { hasTensors, type ResponseKind } from "./response-kind.ts";

/** Token counts reported by the server; undefined if not reported. */
export interface ServerUsage {
  readonly promptTokens: number | undefined;
  readonly completionTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
  /** Name of the tokenizer that counted. Only Rampart's own server reports it. */
  readonly tokenizer?: string;
}

export interface ResponsePart {
  /** Output text; may be empty. */
  readonly text: string;
  /** A reasoning model's thoughts, which are not part of its output. */
  readonly reasoning: string;
  /** Names and arguments of tool calls, which a model generates like text. Absent: no tool calls. */
  readonly toolCalls?: string | undefined;
  /** Number of output tokens, for responses with ids instead of text. */
  readonly tokenCount?: number | undefined;
  readonly usage?: ServerUsage | undefined;
  readonly finishReason?: string | undefined;
  readonly error?: string | undefined;
  /** Text and reasoning by choice. Absent: everything belongs to the first choice. */
  readonly choices?: readonly ChoicePart[] | undefined;
}

export interface ChoicePart extends Pick<ResponsePart, "text" | "reasoning" | "toolCalls"> {
  /** Number of the choice, from 0. */
  readonly index: number;
}

type Json = Readonly<Record<string, unknown>>;

const EMPTY: ResponsePart = { text: "", reasoning: "" };

/** Reads one event or JSON body of a response. @param data parsed JSON */
export function readPart(kind: ResponseKind, data: unknown): ResponsePart {
  const first = Array.isArray(data) ? data[0] : data;
  if (!isObject(first)) return EMPTY;
  // Tensor names are defined by the model: one may be `error`.
  const found = hasTensors(kind) ? undefined : readError(first);
  const part = READERS[kind](first);
  const usage = part.usage ?? readUsage(first["usage"]);
  const error = found ?? part.error;
  // Most events contain only a token.
  return usage === undefined && error === undefined ? part : { ...part, usage, error };
}

const TOOL_CALL_REASONS: ReadonlySet<string> = new Set(["tool_calls", "function_call", "tool_use"]);

/** Whether a finish reason means that the response calls tools. */
export function callsTools(finishReason: string | undefined): boolean {
  return finishReason !== undefined && TOOL_CALL_REASONS.has(finishReason);
}

const READERS: Readonly<Record<ResponseKind, (data: Json) => ResponsePart>> = {
  chat: readChat,
  multimodal: readChat,
  completions: readChat,
  responses: readResponsesEvent,
  anthropic: readAnthropicEvent,
  generate: (data) => ({ text: toText(data["text_output"]), reasoning: "" }),
  kserve: (data) => ({ text: toText(data["text_output"]), reasoning: "" }),
  "token-ids": readTokenIds,
  "huggingface-generate": readHuggingFace,
  embeddings: () => EMPTY,
  nvclip: () => EMPTY,
  rankings: () => EMPTY,
  "image-retrieval": () => EMPTY,
  grpc: () => EMPTY,
  custom: readCustom,
};

/** Keys of the text in non-standard services; the first one present counts. From AIPerf's list, with two additions. */
const TEXT_KEYS = ["text", "content", "response", "output", "result", "generated_text", "text_output"];

function readCustom(data: Json): ResponsePart {
  const text = TEXT_KEYS.map((key) => toText(data[key])).find((found) => found !== "");
  return text === undefined ? readChat(data) : { text, reasoning: "" };
}

/** Like {@link readPart}, for a text whose place the user has specified. @param data parsed JSON */
export function readFieldPart(field: ResponseField, data: unknown): ResponsePart {
  const first = Array.isArray(data) ? data[0] : data;
  const found = field.find(data);
  const text = typeof found === "number" || typeof found === "boolean" ? String(found) : toText(found);
  if (!isObject(first)) return { text, reasoning: "" };
  return { text, reasoning: "", usage: readUsage(first["usage"]), error: readError(first) };
}

/**
 * Reads chat completions and completions, streamed or whole; some servers use the shape of one for the other. All choices are
 * output.
 */
function readChat(data: Json): ResponsePart {
  const choices: unknown = data["choices"];
  if (!Array.isArray(choices)) return EMPTY;
  const [first] = choices as unknown[];
  if (choices.length < 2 && (!isObject(first) || (first["index"] ?? 0) === 0)) return readChoice(first);
  const parts = choices.map((choice: unknown, place) => {
    const index = isObject(choice) ? choice["index"] : undefined;
    return { ...readChoice(choice), index: typeof index === "number" ? index : place };
  });
  const joined = {
    text: parts.map(({ text }) => text).join(""),
    reasoning: parts.map(({ reasoning }) => reasoning).join(""),
    finishReason: parts.find(({ finishReason }) => finishReason !== undefined)?.finishReason,
    choices: parts,
  };
  return withCalls(joined, parts.map(({ toolCalls = "" }) => toolCalls).join(""));
}

function readChoice(choice: unknown): ResponsePart {
  if (!isObject(choice)) return EMPTY;
  const { delta, message } = choice;
  const body = isObject(delta) ? delta : isObject(message) ? message : {};
  const part = {
    text: toText(body["content"]) || toText(choice["text"]),
    reasoning: toText(body["reasoning_content"]) || toText(body["reasoning"]),
    finishReason: toName(choice["finish_reason"]),
  };
  return withCalls(part, readToolCalls(body));
}

/** Returns the tool calls of a message, or of a part of one. The second field is the older one. */
function readToolCalls({ tool_calls: calls, function_call: single }: Json): string {
  if (calls === undefined && single === undefined) return "";
  const functions = (Array.isArray(calls) ? calls : []).map((call: unknown) =>
    isObject(call) ? call["function"] : {},
  );
  return [...functions, single].map(readCall).join("");
}

/** Returns the name of a function and its arguments, which are JSON as text. */
function readCall(call: unknown): string {
  return isObject(call) ? toText(call["name"]) + toText(call["arguments"]) : "";
}

function withCalls(part: ResponsePart, toolCalls: string): ResponsePart {
  return toolCalls === "" ? part : { ...part, toolCalls };
}

function readHuggingFace(data: Json): ResponsePart {
  const { token, details } = data;
  const streamed = isObject(token) && token["special"] !== true ? toText(token["text"]) : "";
  return {
    text: isObject(token) ? streamed : toText(data["generated_text"]),
    reasoning: "",
    finishReason: isObject(details) ? toName(details["finish_reason"]) : undefined,
  };
}

/** Reads a response of the engine of TensorRT-LLM. A response that only ends a stream has an empty `output_ids`. */
function readTokenIds(data: Json): ResponsePart {
  const { output_ids: ids } = data;
  if (ids !== undefined) return { ...EMPTY, tokenCount: countIds(ids) };
  return { ...EMPTY, error: `the response has no output_ids, only ${Object.keys(data).join(", ") || "nothing"}` };
}

/** Returns the number of token ids in a tensor: a list, or a single id. */
export function countIds(ids: unknown): number {
  if (Array.isArray(ids)) return ids.length;
  return ids === undefined || ids === null || ids === "" ? 0 : 1;
}

/** Reads OpenAI's responses API: typed events, or the whole response. */
function readResponsesEvent(data: Json): ResponsePart {
  const { type, delta, response, item } = data;
  if (type === "response.output_text.delta") return { text: toText(delta), reasoning: "" };
  if (type === "response.reasoning_text.delta" || type === "response.reasoning_summary_text.delta")
    return { text: "", reasoning: toText(delta) };
  if (type === "response.function_call_arguments.delta") return withCalls(EMPTY, toText(delta));
  if (type === "response.output_item.added") return withCalls(EMPTY, readFunctionItem(item));
  // The last event of a stream repeats the whole text.
  if (isObject(response)) return { ...EMPTY, ...readResponseEnd(response) };
  if (data["object"] !== "response") return EMPTY;
  const items = (Array.isArray(data["output"]) ? data["output"] : []).filter(isObject);
  const textOf = (wanted: string): string =>
    items
      .filter((item) => item["type"] === wanted)
      .map((item) => toText(item["content"]) || toText(item["summary"]))
      .join("");
  const part = { text: textOf("message"), reasoning: textOf("reasoning"), ...readResponseEnd(data) };
  return withCalls(part, items.map(readFunctionItem).join(""));
}

function readFunctionItem(item: unknown): string {
  return isObject(item) && item["type"] === "function_call" ? readCall(item) : "";
}

function readResponseEnd(response: Json): Partial<ResponsePart> {
  const { status, error } = response;
  return {
    usage: readUsage(response["usage"]),
    finishReason: status === "in_progress" || status === "queued" ? undefined : toName(status),
    error: isObject(error) ? readError({ error }) : undefined,
  };
}

/** Reads Anthropic's messages API: typed events, or the whole message. */
function readAnthropicEvent(data: Json): ResponsePart {
  const { type, delta, message, content_block: block } = data;
  if (type === "message_start" && isObject(message)) return { ...EMPTY, usage: readUsage(message["usage"]) };
  if (type === "content_block_start" && isObject(block))
    return withCalls({ text: toText(block["text"]), reasoning: toText(block["thinking"]) }, readToolUse(block));
  if (type === "content_block_delta" && isObject(delta))
    return withCalls(
      { text: toText(delta["text"]), reasoning: toText(delta["thinking"]) },
      toText(delta["partial_json"]),
    );
  if (type === "message_delta" && isObject(delta)) return { ...EMPTY, finishReason: toName(delta["stop_reason"]) };
  if (type !== "message") return EMPTY;
  const blocks = (Array.isArray(data["content"]) ? data["content"] : []).filter(isObject);
  const part = {
    text: blocks.map((item) => toText(item["text"])).join(""),
    reasoning: blocks.map((item) => toText(item["thinking"])).join(""),
    finishReason: toName(data["stop_reason"]),
  };
  return withCalls(part, blocks.map(readToolUse).join(""));
}

/** Returns the tool call of a block; in a stream its input is empty and follows as text. */
function readToolUse({ type, name, input }: Json): string {
  if (type !== "tool_use") return "";
  const isEmpty = !isObject(input) || Object.keys(input).length === 0;
  return toText(name) + (isEmpty ? "" : JSON.stringify(input));
}

/** Returns the message of an error that replaces a response, or occurs in the middle of one. */
function readError(data: Json): string | undefined {
  const { error } = data;
  if (typeof error === "string" && error !== "") return error;
  if (isObject(error)) return typeof error["message"] === "string" ? error["message"] : writeJson(error);
  if (data["object"] === "error" || data["type"] === "error") return toText(data["message"]) || writeJson(data);
  return undefined;
}

function readUsage(usage: unknown): ServerUsage | undefined {
  if (!isObject(usage)) return undefined;
  const details = usage["completion_tokens_details"] ?? usage["output_tokens_details"];
  const tokenizer = toName(usage["tokenizer"]);
  return {
    ...defined({ tokenizer }),
    promptTokens: toCount(usage["prompt_tokens"] ?? inputTokens(usage)),
    completionTokens: toCount(usage["completion_tokens"] ?? usage["output_tokens"]),
    reasoningTokens: toCount(isObject(details) ? details["reasoning_tokens"] : usage["reasoning_tokens"]),
  };
}

/** Anthropic's API counts tokens read from or written to its cache separately from `input_tokens`. */
function inputTokens(usage: Json): number | undefined {
  const fresh = toCount(usage["input_tokens"]);
  if (fresh === undefined) return undefined;
  return (
    fresh + (toCount(usage["cache_read_input_tokens"]) ?? 0) + (toCount(usage["cache_creation_input_tokens"]) ?? 0)
  );
}

/** Returns a text; for content in parts, the joined texts of the parts. */
export function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part) => (isObject(part) ? toText(part["text"]) : toText(part))).join("");
}

function toName(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
