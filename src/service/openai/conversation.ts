import { isObject } from "../../plan/objects.ts";
import { decoder, encoder } from "../../runtime/text.ts";
import type { Payload } from "../content.ts";
import { formatJson, parseJson } from "../json-text.ts";
import type { Conversation } from "../service.ts";
import type { Json, JsonObject } from "./prompt-entry.ts";
import { detectResponseKind, type ResponseKind } from "./response-kind.ts";
import { readResponse } from "./response-text.ts";
import { explainCutStream } from "./stream-end.ts";

/** Whether any stream of a run ended with its end mark. If so, a stream without it was cut off. */
export interface SeenEndMarks {
  isSeen: boolean;
}

/** The fields of a request body that contain the conversation. */
interface Layout {
  readonly messages: "messages" | "input";
  /** Instructions for all turns; copied from the previous turn when a turn has none. */
  readonly instructions: "system" | "instructions";
}

const CHAT: Layout = { messages: "messages", instructions: "system" };
const RESPONSES: Layout = { messages: "input", instructions: "instructions" };

/**
 * A session of requests of the kinds chat, multimodal, Anthropic messages or responses. Each turn is sent with the messages of the
 * previous turns and the text of the server's responses, as assistant messages, without reasoning. Requests of other kinds are sent
 * unchanged.
 */
export class PayloadConversation implements Conversation {
  private readonly endpoint: string;
  /** The first turn, until its response arrives. */
  private opening = "";
  /** The last turn, as it was sent. */
  private previous: JsonObject | undefined;
  private response: JsonObject | undefined;
  private layout: Layout | undefined;

  private readonly endMarks: SeenEndMarks;

  /**
   * @param endpoint path of the requests, which may determine their kind
   * @param endMarks shared by all conversations of a run
   */
  constructor(endpoint: string, endMarks: SeenEndMarks = { isSeen: false }) {
    this.endMarks = endMarks;
    this.endpoint = endpoint;
  }

  nextRequest({ bytes }: Payload): Payload {
    const text = decoder.decode(bytes);
    const { previous, response, layout } = this;
    if (previous === undefined || response === undefined || layout === undefined) {
      this.opening = text;
      return { bytes };
    }
    this.previous = continueBody(previous, response, parseBody(text), layout);
    return { bytes: encoder.encode(formatJson(this.previous)) };
  }

  addResponse(reads: readonly Uint8Array[]): string | undefined {
    const texts = reads.map((read) => decoder.decode(read));
    this.previous ??= parseBody(this.opening);
    const kind = detectResponseKind("openai", this.endpoint, "", texts.find((text) => text !== "") ?? "");
    this.layout = layoutOf(kind, this.previous);
    if (this.layout === undefined) return undefined;
    const { output, error, end } = readResponse(kind ?? "chat", texts);
    if (error !== undefined) return error;
    // If no stream has had a mark so far, this may be a server that sends none: its output is complete when the
    // response is.
    if (end?.isMarked === false && this.endMarks.isSeen) return explainCutStream(end);
    if (end?.isMarked === true) this.endMarks.isSeen = true;
    const content = output.map(({ text }) => text).join("");
    this.response = { role: "assistant", content, ...(this.layout === RESPONSES ? { type: "message" } : {}) };
    return undefined;
  }
}

function layoutOf(kind: ResponseKind | undefined, body: JsonObject): Layout | undefined {
  if (kind === "responses") return RESPONSES;
  if (kind === "chat" || kind === "multimodal" || kind === "anthropic") return CHAT;
  // Neither the path nor the response determines the kind, so use the form of the request.
  return kind === undefined && Array.isArray(body["messages"]) ? CHAT : undefined;
}

/** Returns the next turn's body, with the order of its keys unchanged. */
function continueBody(previous: JsonObject, response: JsonObject, next: JsonObject, layout: Layout): JsonObject {
  const { messages, instructions } = layout;
  const history = [...listOf(previous[messages]), response, ...listOf(next[messages])];
  const inherited = next[instructions] ?? previous[instructions];
  return {
    ...next,
    [messages]: history,
    ...(inherited === undefined ? {} : { [instructions]: inherited }),
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
