import { formatJson, parseJson } from "../json-text.ts";
import type { Conversation } from "../service.ts";
import { type AnswerKind, detectAnswerKind } from "./answer-kind.ts";
import { isObject } from "./answer-parts.ts";
import type { Json, JsonObject } from "./prompt-entry.ts";
import { readAnswer } from "./response-text.ts";

/** The fields of a request body that hold the conversation. */
interface Layout {
  readonly messages: "messages" | "input";
  /** Instructions for all turns; copied from the previous turn when a turn has none. */
  readonly standing: "system" | "instructions";
}

const CHAT: Layout = { messages: "messages", standing: "system" };
const RESPONSES: Layout = { messages: "input", standing: "instructions" };

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * A session of chat, multimodal, Anthropic messages or responses requests. Each turn is sent with the messages of the previous turns and
 * the text of the server's answers, as assistant messages, without reasoning. Requests of other kinds are sent unchanged.
 */
export class PayloadConversation implements Conversation {
  private readonly endpoint: string;
  /** The first turn, until its answer arrives. */
  private opening = "";
  /** The last turn as it was sent. */
  private asked: JsonObject | undefined;
  private answered: JsonObject | undefined;
  private layout: Layout | undefined;

  /** @param endpoint path of the requests, which may determine their kind */
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
  // Neither the path nor the answer determines the kind, so use the request's shape.
  return kind === undefined && Array.isArray(body["messages"]) ? CHAT : undefined;
}

/** Returns the next turn's body. Keeps the order of its keys. */
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

/** Returns the messages. The responses endpoint also accepts a string as the user's message. */
function listOf(messages: Json | undefined): readonly Json[] {
  if (Array.isArray(messages)) return messages as readonly Json[];
  return typeof messages === "string" ? [{ role: "user", content: messages, type: "message" }] : [];
}

function parseBody(text: string): JsonObject {
  const body = parseJson(text) as Json;
  return isObject(body) ? (body as JsonObject) : {};
}
