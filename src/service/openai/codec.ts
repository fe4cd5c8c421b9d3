import { parseJson } from "../../plan/objects.ts";
import { writeJson } from "../../plan/show-value.ts";
import { isSameBytes, NO_BYTES } from "../../runtime/bytes.ts";
import { decoder, encoder } from "../../runtime/text.ts";
import type { Failure } from "../../transport/failure.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { SampleResponse } from "../../transport/sink/sample-response.ts";
import type { CutCheck, PayloadCodec, StreamEvents } from "../content.ts";
import { addExplanation, toMaskedText } from "../explain-error.ts";
import { explainPage } from "../response-faults.ts";
import { createPayloadChecks } from "./response-check.ts";
import { detectResponseKind, type ResponseKind } from "./response-kind.ts";
import { readResponse } from "./response-text.ts";
import { explainCutStream, hasEndMark, type StreamEnd } from "./stream-end.ts";

/**
 * Creates the codec that encodes payloads as requests to a path.
 * @param path without a leading slash
 * @param isStreaming whether to request events
 */
export function createPayloadCodec(path: string, isStreaming: boolean): PayloadCodec {
  const headers = [
    ["Content-Type", "application/json"],
    ...(isStreaming ? [["Accept", "text/event-stream"] as const] : []),
  ] as const;
  const kind = detectResponseKind("openai", path, "", "");
  return {
    encode: ({ bytes }): WireRequest => ({
      path: `/${path}`,
      method: "POST",
      headers,
      payload: bytes,
    }),
    responseChecks: () => createPayloadChecks(kind),
    decode: (body) => ({ outputs: body, describe: () => decoder.decode(body) }),
    explain: explainFailure,
    ...(kind !== undefined && hasEndMark(kind) ? { createCutCheck: () => createCutCheck(kind) } : {}),
    describe: ({ payload }) => decoder.decode(payload),
    sampleResponse: () => sampleText(kind, isStreaming),
  };
}

const DONE_LINE = encoder.encode("data: [DONE]");
/** Number of last events to search for an end mark. */
const LAST_EVENTS = 2;

function createCutCheck(kind: ResponseKind): CutCheck {
  let isSeen = false;
  const endOf = (events: readonly Uint8Array[]): StreamEnd | undefined =>
    readResponse(
      kind,
      events.map((body) => decoder.decode(body)),
    ).end;
  const isMarked = (events: StreamEvents): boolean => {
    const latest = events.lastCopies(LAST_EVENTS);
    const last = latest.at(-1) ?? NO_BYTES;
    const isDone = last.length >= DONE_LINE.length && isSameBytes(DONE_LINE, 0, last, 0, DONE_LINE.length);
    return isDone || endOf(latest)?.isMarked === true;
  };
  const endOfAll = (events: StreamEvents): StreamEnd | undefined => endOf(events.lastCopies(events.count));
  return {
    isUndecided: (events) => {
      if (isSeen || events.count === 0) return false;
      isSeen = isMarked(events);
      const end = isSeen ? undefined : endOfAll(events);
      isSeen ||= end?.isMarked === true;
      return end?.isMarked === false;
    },
    explain: (events) => {
      if (events.count === 0) return undefined;
      if (isMarked(events)) {
        isSeen = true;
        return undefined;
      }
      const end = isSeen ? endOfAll(events) : undefined;
      return end?.isMarked === false ? { message: explainCutStream(end), mark: end.mark } : undefined;
    },
  };
}

/** Returns an event's data; any other text unchanged. */
function dataOf(text: string): string {
  const data = text.split(/\r\n|\n|\r/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []));
  return data.length === 0 ? text : data.join("\n").trim();
}

/** Returns the message of a document such as `{"error": {"message": …}}`; undefined without an error. */
function readError(text: string): string | undefined {
  const { error } = (parseJson(text) ?? {}) as { error?: unknown };
  if (error === undefined || error === null) return undefined;
  if (typeof error === "string") return error;
  const message = (error as { message?: unknown }).message;
  return typeof message === "string" ? message : writeJson(error);
}

function explainFailure(failure: Failure, body: Uint8Array | undefined): Failure {
  const isUnreadable = failure.kind === "unreadable";
  if ((failure.kind !== "http" && !isUnreadable) || body === undefined) return failure;
  const text = toMaskedText(body);
  const page = isUnreadable ? explainPage([text]) : undefined;
  if (page !== undefined) return { ...failure, message: page };
  const explanation = readError(isUnreadable ? dataOf(text) : text) ?? text.replace(/\s+/g, " ");
  return addExplanation(failure, text, explanation);
}

/** Number of events with text. */
const EVENTS = 12;
const EVENT_HEADERS = [
  ["Content-Type", "text/event-stream"],
  ["Cache-Control", "no-cache"],
] as const;
const JSON_HEADERS = [["Content-Type", "application/json"]] as const;

/** Content of a response: documents of events with text, named by type if they have one; or a whole document. */
interface ResponseText {
  readonly event: object;
  readonly whole: object;
  /** Text after a stream's events. Default: none. */
  readonly end?: string;
}

const FRAME = { id: "chatcmpl-1", created: 1_700_000_000, model: "m" } as const;
const DONE = "data: [DONE]\n\n";

const CHAT: ResponseText = {
  event: { ...FRAME, object: "chat.completion.chunk", choices: [choice({ delta: { content: " word" } })] },
  whole: {
    ...FRAME,
    object: "chat.completion",
    choices: [choice({ message: { role: "assistant", content: "word" } })],
  },
  end: DONE,
};
const GENERATE: ResponseText = { event: { text_output: " word" }, whole: { text_output: "word" } };

const TEXTS: Readonly<Partial<Record<ResponseKind, ResponseText>>> = {
  chat: CHAT,
  multimodal: CHAT,
  completions: {
    event: { ...FRAME, object: "text_completion", choices: [choice({ text: " word" })] },
    whole: { ...FRAME, object: "text_completion", choices: [choice({ text: "word" })] },
    end: DONE,
  },
  responses: {
    event: { type: "response.output_text.delta", delta: " word" },
    whole: { object: "response", output: [{ type: "message", content: [{ type: "output_text", text: "word" }] }] },
    end: 'event: response.completed\ndata: {"type":"response.completed","response":{}}\n\n',
  },
  anthropic: {
    event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " word" } },
    whole: { type: "message", role: "assistant", content: [{ type: "text", text: "word" }] },
    end: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
  generate: GENERATE,
  "huggingface-generate": { event: { token: { text: " word" } }, whole: { generated_text: "word" } },
  embeddings: whole({ object: "list", data: [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }] }),
  rankings: whole({ rankings: [{ index: 0, logit: 0 }] }),
};

/** Returns a response of a kind; for an unknown kind, a chat completion. */
function sampleText(kind: ResponseKind | undefined, isStreaming: boolean): SampleResponse {
  const { event, whole: document, end = "" } = TEXTS[kind ?? "chat"] ?? CHAT;
  if (!isStreaming) return { headers: JSON_HEADERS, parts: [encoder.encode(JSON.stringify(document))] };
  const name = "type" in event ? `event: ${event.type}\n` : "";
  const part = encoder.encode(`${name}data: ${JSON.stringify(event)}\n\n`);
  const last = end === "" ? [] : [encoder.encode(end)];
  return { headers: EVENT_HEADERS, parts: [...Array<Uint8Array>(EVENTS).fill(part), ...last], isEvents: true };
}

function choice(content: object): object {
  return { index: 0, ...content, finish_reason: null };
}

function whole(document: object): ResponseText {
  return { event: document, whole: document };
}
