import { maskSecrets } from "../../plan/secrets.ts";
import { explainPage } from "../response-faults.ts";
import { EventTemplate } from "./event-template.ts";
import { type ServerEvent, splitEvents } from "./events.ts";
import type { ResponseField } from "./response-field.ts";
import type { ResponseKind } from "./response-kind.ts";
import { type ChoicePart, type ResponsePart, readFieldPart, readPart, type ServerUsage } from "./response-parts.ts";
import { readStreamEnd, type StreamEnd } from "./stream-end.ts";

/** The text in one socket read. */
export interface TextPiece {
  /** Index of the read, which determines its time. */
  readonly read: number;
  /** Joined output text of the read's events. Not empty, except for kinds whose empty texts count in GenAI-Perf. */
  readonly text: string;
  /** Number of events with text in the read; above 1 they were bunched. */
  readonly events: number;
}

/** The response to one request. */
export interface Response {
  /** Reads with output text, in order. */
  readonly output: readonly TextPiece[];
  /** Reads with reasoning text, in order; a read may be in both. */
  readonly reasoning: readonly TextPiece[];
  /** Reads with tool calls, in order; a read may be in several lists. Absent: no tool calls. */
  readonly toolCalls?: readonly TextPiece[] | undefined;
  /** Undefined if the server does not report token counts. */
  readonly usage: ServerUsage | undefined;
  readonly finishReason: string | undefined;
  /** Output and reasoning of each choice, if there are others than the first one. */
  readonly choices?: readonly Omit<ChoicePart, "index">[] | undefined;
  /** Number of output tokens, for responses with ids instead of text. */
  readonly outputTokens?: number | undefined;
  /** End of the stream. Absent for other responses and for kinds without an end mark. */
  readonly end?: StreamEnd | undefined;
  /** Whether the response arrived as a stream instead of as a JSON body, plain text, or events in one body. */
  readonly isStreamed: boolean;
  /** The server's error message; undefined without an error. */
  readonly error: string | undefined;
}

/**
 * Reads a response. Joins events that span several reads, combines a read's events into one piece, and skips reads without text (role,
 * finish and usage events, `[DONE]`, comments). Never throws: unreadable data sets `error`.
 * @param reads server-sent events or JSON bodies as read from the socket, in order
 * @param field place of the text in responses of kind `custom`; a response without it is an error
 */
export function readResponse(kind: ResponseKind, reads: readonly string[], field?: ResponseField): Response {
  const output = new Pieces();
  const reasoning = new Pieces();
  const toolCalls = new Pieces();
  let usage: ServerUsage | undefined;
  let finishReason: string | undefined;
  let error = explainPage(reads);
  const events = error === undefined ? splitEvents(reads) : [];
  let choices: Choices | undefined;
  const reader = new EventReader(kind, field);
  for (const event of events) {
    const part = reader.read(event);
    if (part.choices !== undefined) choices ??= new Choices(output, reasoning, toolCalls);
    choices?.add(part);
    output.add(event.read, part.text);
    reasoning.add(event.read, part.reasoning);
    toolCalls.add(event.read, part.toolCalls ?? "");
    usage = mergeUsage(usage, part.usage);
    finishReason = part.finishReason ?? finishReason;
    error ??= part.error;
  }
  // Some services respond with plain text.
  if (kind === "custom" && events.length === 0 && error === undefined)
    output.add(reads.length - 1, reads.join("").trim());
  if (field !== undefined && output.list.length === 0) error ??= `nothing is at ${field.text} in the response`;
  const end = readStreamEnd(kind, reads[0] ?? "", events, finishReason);
  const isStreamed = isStream(reads, events.length);
  return {
    output: output.list,
    reasoning: reasoning.list,
    toolCalls: toolCalls.list.length === 0 ? undefined : toolCalls.list,
    usage,
    finishReason,
    choices: choices?.list,
    end,
    isStreamed,
    error,
  };
}

/**
 * Reads the response of a model on Triton: the tensor `text_output` of each response (tensorrtllm and vllm backends), or the number of ids
 * in `output_ids` (engine of TensorRT-LLM). Responses without text or ids count too, like in GenAI-Perf, because such a model sends one per
 * step. But an empty one has no token, unlike in GenAI-Perf.
 * @param responses outputs of each response, by name
 */
export function readTensorResponse(
  kind: ResponseKind,
  responses: readonly Readonly<Record<string, unknown>>[],
): Response {
  const parts = responses.map((response) => readPart(kind, response));
  const pieces = parts.map(({ text }, read) => ({ read, text, events: 1 }));
  const counts = parts.flatMap(({ tokenCount }) => (tokenCount === undefined ? [] : [tokenCount]));
  const outputTokens = counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
  // A single response with all ids is not a stream, although an empty response may end it.
  const isWhole = outputTokens !== undefined && outputTokens > 1 && counts.includes(outputTokens);
  return {
    output: isWhole ? pieces.slice(-1) : pieces,
    reasoning: [],
    usage: undefined,
    finishReason: undefined,
    outputTokens,
    isStreamed: !isWhole,
    error: parts.find((part) => part.error !== undefined)?.error,
  };
}

/**
 * Whether a response is a stream. A single body has no times within it. A stream of one event may have a second read
 * with only the end mark.
 */
function isStream([first = "", ...others]: readonly string[], eventCount: number): boolean {
  if (eventCount === 0 || /^\s*[{[]/.test(first)) return false;
  return others.length > 0 || eventCount === 1;
}

class Pieces {
  readonly list: { read: number; text: string; events: number }[] = [];

  text(): string {
    return this.list.map(({ text }) => text).join("");
  }

  add(read: number, text: string): void {
    if (text === "") return;
    const last = this.list.at(-1);
    if (last?.read === read) {
      last.text += text;
      last.events++;
    } else this.list.push({ read, text, events: 1 });
  }
}

/** The texts of a response's choices. Their parts may arrive in any order. */
class Choices {
  private readonly texts = new Map<number, Omit<ChoicePart, "index">>();

  /** The parameters are the pieces of the first choice so far. */
  constructor(text: Pieces, reasoning: Pieces, toolCalls: Pieces) {
    this.texts.set(0, { text: text.text(), reasoning: reasoning.text(), toolCalls: toolCalls.text() });
  }

  get list(): readonly Omit<ChoicePart, "index">[] {
    return [...this.texts.values()];
  }

  add({ choices, ...whole }: ResponsePart): void {
    for (const { index, text, reasoning, toolCalls = "" } of choices ?? [{ ...whole, index: 0 }]) {
      const before = this.texts.get(index);
      this.texts.set(index, {
        text: (before?.text ?? "") + text,
        reasoning: (before?.reasoning ?? "") + reasoning,
        toolCalls: (before?.toolCalls ?? "") + toolCalls,
      });
    }
  }
}

/** Reads the events of one response. */
class EventReader {
  private readonly kind: ResponseKind;
  private readonly field: ResponseField | undefined;
  private readonly template = new EventTemplate((data) => readPart(this.kind, JSON.parse(data)));

  constructor(kind: ResponseKind, field: ResponseField | undefined) {
    this.kind = kind;
    this.field = field;
  }

  read({ name, data }: ServerEvent): ResponsePart {
    const { kind, field } = this;
    const isError = name.toLowerCase().includes("error");
    if (data === "[DONE]" || (data === "" && !isError)) return { text: "", reasoning: "" };
    try {
      // A user's expression may depend on the text that it finds.
      const part = field === undefined ? this.template.read(data) : readFieldPart(field, JSON.parse(data));
      return isError ? { ...part, error: part.error ?? data } : part;
    } catch {
      // Non-standard services may stream plain text.
      if (kind === "custom" && field === undefined && !isError) return { text: data, reasoning: "" };
      return {
        text: "",
        reasoning: "",
        error: isError ? data || name : `unreadable response: ${maskSecrets(data).slice(0, 200)}`,
      };
    }
  }
}

/** Combines reports field by field, because some servers report in parts. Later reports take precedence. */
function mergeUsage(before: ServerUsage | undefined, now: ServerUsage | undefined): ServerUsage | undefined {
  if (before === undefined || now === undefined) return now ?? before;
  return {
    ...before,
    ...now,
    promptTokens: now.promptTokens ?? before.promptTokens,
    completionTokens: now.completionTokens ?? before.completionTokens,
    reasoningTokens: now.reasoningTokens ?? before.reasoningTokens,
  };
}
