import { formatJson, parseJson } from "../json-text.ts";
import type { Conversation } from "../service.ts";
import { type AnswerKind, detectAnswerKind } from "./answer-kind.ts";
import { isObject } from "./answer-parts.ts";
import type { Json, JsonObject } from "./prompt-entry.ts";
import { readAnswer } from "./response-text.ts";

/** Conversations of payloads: what was said before goes ahead of each turn's own messages. */

/** Where a body says what was said, and what it says once for all turns. */
interface Layout {
  readonly messages: "messages" | "input";
  /** Taken from the turn before where a turn does not say it again. */
  readonly standing: "system" | "instructions";
}

const CHAT: Layout = { messages: "messages", standing: "system" };
const RESPONSES: Layout = { messages: "input", standing: "instructions" };

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * A session of chat, multimodal, Anthropic messages or responses requests. Each turn is sent with the messages of the turns before and the
 * server's answers to them: of an answer its text, as an assistant's message; what a model reasoned is not said again. Requests of other
 * kinds are sent as they are.
 */
export class PayloadConversation implements Conversation {
  private readonly endpoint: string;
  /** The first turn, until its answer comes. */
  private opening = "";
  /** The last turn as it was sent, which the next one continues. */
  private asked: JsonObject | undefined;
  private answered: JsonObject | undefined;
  private layout: Layout | undefined;

  /** @param endpoint the path that requests are sent to, which tells their kind if anything does */
  constructor(endpoint: string) {
    this.endpoint = endpoint;
  }

  ask(turn: Uint8Array): Uint8Array {
    const text = decoder.decode(turn);
    const { asked, answered, layout } = this;
    if (asked === undefined || answered === undefined || layout === undefined) {
      this.opening = text;
      return turn;
    }
    this.asked = continueBody(asked, answered, parseBody(text), layout);
    return encoder.encode(formatJson(this.asked));
  }

  hear(reads: readonly Uint8Array[]): string | undefined {
    const texts = reads.map((read) => decoder.decode(read));
    this.asked ??= parseBody(this.opening);
    const kind = detectAnswerKind("openai", this.endpoint, "", texts.find((text) => text !== "") ?? "");
    this.layout = layoutOf(kind, this.asked);
    if (this.layout === undefined) return undefined;
    const { output, error } = readAnswer(kind ?? "chat", texts);
    if (error !== undefined) return error;
    const content = output.map(({ text }) => text).join("");
    this.answered = { role: "assistant", content, ...(this.layout === RESPONSES ? { type: "message" } : {}) };
    return undefined;
  }
}

function layoutOf(kind: AnswerKind | undefined, body: JsonObject): Layout | undefined {
  if (kind === "responses") return RESPONSES;
  if (kind === "chat" || kind === "multimodal" || kind === "anthropic") return CHAT;
  // An answer that tells nothing, at a path that is nobody's: the request's own shape has to do.
  return kind === undefined && Array.isArray(body["messages"]) ? CHAT : undefined;
}

/** The next turn's body, its keys in their places. */
function continueBody(asked: JsonObject, answered: JsonObject, next: JsonObject, layout: Layout): JsonObject {
  const { messages, standing } = layout;
  const said = [...listOf(asked[messages]), answered, ...listOf(next[messages])];
  const standingBefore = next[standing] ?? asked[standing];
  return {
    ...next,
    [messages]: said,
    ...(standingBefore === undefined ? {} : { [standing]: standingBefore }),
  };
}

/** Messages; the responses endpoint takes a text alone for a user's message. */
function listOf(messages: Json | undefined): readonly Json[] {
  if (Array.isArray(messages)) return messages as readonly Json[];
  return typeof messages === "string" ? [{ role: "user", content: messages, type: "message" }] : [];
}

function parseBody(text: string): JsonObject {
  const body = parseJson(text) as Json;
  return isObject(body) ? (body as JsonObject) : {};
}
