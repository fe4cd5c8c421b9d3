import { maskSecrets } from "../../plan/secrets.ts";
import { explainPage } from "../html-page.ts";
import type { AnswerKind } from "./answer-kind.ts";
import { type AnswerPart, readFieldPart, readPart, type ServerUsage } from "./answer-parts.ts";
import { type ServerEvent, splitEvents } from "./events.ts";
import type { ResponseField } from "./response-field.ts";
import { readStreamEnd, type StreamEnd } from "./stream-end.ts";

/** From the responses to one request, as they were read, to texts that have times. */

/** What one read brought. */
export interface TextPiece {
  /** Index of the read, and so of its time. */
  readonly read: number;
  /** All output text of the read's events, joined; never empty but for kinds that GenAI-Perf takes as they are. */
  readonly text: string;
  /** How many events with such text came in it; above 1 they came bunched. */
  readonly events: number;
}

/** All that the responses to one request say. */
export interface Answer {
  /** Reads with output text, in order. */
  readonly output: readonly TextPiece[];
  /** Reads with reasoning text, in order; a read may be in both. */
  readonly reasoning: readonly TextPiece[];
  /** As the server reports it; undefined without a report. */
  readonly usage: ServerUsage | undefined;
  readonly finishReason: string | undefined;
  /** How it ended, where it was streamed and its protocol marks that. */
  readonly end?: StreamEnd | undefined;
  /** Whether it came as a stream: not as a JSON body or bare text, nor as events that all came as one body. */
  readonly isStreamed: boolean;
  /** What the server said went wrong; undefined when nothing did. */
  readonly error: string | undefined;
}

/**
 * Reads an answer: events torn over reads are joined, several events in one read become one piece, and reads without text (role, finish
 * and usage events, `[DONE]`, comments) are left out. Nothing is thrown: what cannot be read is the answer's `error`.
 *
 * @param reads what was read from the socket, in order: server-sent events or JSON bodies
 * @param field where the text is, for answers of the kind `custom`; an answer without it is an error
 */
export function readAnswer(kind: AnswerKind, reads: readonly string[], field?: ResponseField): Answer {
  const output = new Pieces();
  const reasoning = new Pieces();
  let usage: ServerUsage | undefined;
  let finishReason: string | undefined;
  let error = explainPage(reads);
  const events = error === undefined ? splitEvents(reads) : [];
  for (const event of events) {
    const part = readEvent(kind, event, field);
    output.add(event.read, part.text);
    reasoning.add(event.read, part.reasoning);
    usage = mergeUsage(usage, part.usage);
    finishReason = part.finishReason ?? finishReason;
    error ??= part.error;
  }
  // Some services answer with the bare text.
  if (kind === "custom" && events.length === 0 && error === undefined)
    output.add(reads.length - 1, reads.join("").trim());
  if (field !== undefined && output.list.length === 0) error ??= `nothing is at ${field.text} in the answer`;
  const end = readStreamEnd(kind, reads[0] ?? "", events, finishReason);
  const isStreamed = isStream(reads, events.length);
  return { output: output.list, reasoning: reasoning.list, usage, finishReason, end, isStreamed, error };
}

/**
 * The answer of a KServe model (tensorrtllm and vllm backends): the tensor `text_output` of each response. As in GenAI-Perf responses
 * without text count too, as such a model sends one for each step.
 *
 * @param responses outputs by name, of each response
 */
export function readTensorAnswer(responses: readonly Readonly<Record<string, unknown>>[]): Answer {
  const output = responses.map((response, read) => ({ read, text: readPart("kserve", response).text, events: 1 }));
  return { output, reasoning: [], usage: undefined, finishReason: undefined, isStreamed: true, error: undefined };
}

/** What came as one body has no times within it. An event's own read may lack only the end mark's. */
function isStream([first = "", ...others]: readonly string[], eventCount: number): boolean {
  if (eventCount === 0 || /^\s*[{[]/.test(first)) return false;
  return others.length > 0 || eventCount === 1;
}

class Pieces {
  readonly list: { read: number; text: string; events: number }[] = [];

  add(read: number, text: string): void {
    if (text === "") return;
    const last = this.list.at(-1);
    if (last?.read === read) {
      last.text += text;
      last.events++;
    } else this.list.push({ read, text, events: 1 });
  }
}

function readEvent(kind: AnswerKind, event: ServerEvent, field: ResponseField | undefined): AnswerPart {
  const { name, data } = event;
  const isError = name.toLowerCase().includes("error");
  if (data === "[DONE]" || (data === "" && !isError)) return { text: "", reasoning: "" };
  try {
    const json: unknown = JSON.parse(data);
    const part = field === undefined ? readPart(kind, json) : readFieldPart(field, json);
    return isError ? { ...part, error: part.error ?? data } : part;
  } catch {
    // Services of no standard form may stream the bare text.
    if (kind === "custom" && field === undefined && !isError) return { text: data, reasoning: "" };
    return {
      text: "",
      reasoning: "",
      error: isError ? data || name : `unreadable response: ${maskSecrets(data).slice(0, 200)}`,
    };
  }
}

/** Later reports win, number by number: some servers report in parts. */
function mergeUsage(before: ServerUsage | undefined, now: ServerUsage | undefined): ServerUsage | undefined {
  if (before === undefined || now === undefined) return now ?? before;
  return {
    promptTokens: now.promptTokens ?? before.promptTokens,
    completionTokens: now.completionTokens ?? before.completionTokens,
    reasoningTokens: now.reasoningTokens ?? before.reasoningTokens,
  };
}
