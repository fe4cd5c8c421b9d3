import { isObject, parseJson } from "../../plan/objects.ts";
import { NO_BYTES } from "../../runtime/bytes.ts";
import { decoder } from "../../runtime/text.ts";
import {
  type CreateResponseCheck,
  faultOf,
  type ResponseCheck,
  type ResponseFault,
  type ResponseHead,
} from "../../transport/response-check.ts";
import { CollectedPieces } from "../collected-pieces.ts";
import { ResponseForm } from "../known-responses.ts";
import { EMPTY_RESPONSE, isPage, NOT_JSON, NOT_OBJECT, PAGE_FOUND, SENT_ERROR } from "../response-faults.ts";
import { explainEvent, isEventText, reportsError } from "./event-fault.ts";
import type { ResponseKind } from "./response-kind.ts";

/**
 * Creates the checks of HTTP bodies and events for a run's slots.
 * @param kind the kind of responses; undefined if the path does not determine it; then responses may be plain text
 */
export function createPayloadChecks(kind: ResponseKind | undefined): CreateResponseCheck {
  const bodies = new ResponseForm(BODY_HEAD_BYTES, BODY_TAIL_BYTES);
  const events = new EventForms();
  return () => new PayloadResponseCheck(kind, bodies, events);
}

/** Enough to cover everything before a response's text. */
const BODY_HEAD_BYTES = 256;
const BODY_TAIL_BYTES = 2;

class PayloadResponseCheck implements ResponseCheck {
  private readonly kind: ResponseKind | undefined;
  private readonly bodies: ResponseForm;
  private readonly events: EventForms;
  private readonly pieces = new CollectedPieces();
  private head: ResponseHead = { jsonBytes: 0, isJson: false };
  private eventCount = 0;
  /** Number of events with content besides an end mark or a comment. */
  private contentCount = 0;
  private fault: ResponseFault | undefined;

  constructor(kind: ResponseKind | undefined, bodies: ResponseForm, events: EventForms) {
    this.kind = kind;
    this.bodies = bodies;
    this.events = events;
  }

  whole(bytes: Uint8Array, start: number, end: number, { isJson }: ResponseHead): ResponseFault | undefined {
    if (this.bodies.has(bytes, start, end)) return undefined;
    const text = decoder.decode(bytes.subarray(start, end));
    const isEvents = isEventText(text);
    const reason = isEvents ? this.explainEvents(text) : this.explainText(text, isJson);
    if (reason !== undefined) return faultOf(reason, bytes, start, end);
    if (!isEvents) this.bodies.add(bytes, start, end);
    return undefined;
  }

  begin(head: ResponseHead): void {
    this.head = head;
    this.eventCount = 0;
    this.contentCount = 0;
    this.fault = undefined;
    this.pieces.begin();
  }

  piece(bytes: Uint8Array, start: number, end: number): void {
    this.pieces.add(bytes, start, end);
  }

  event(bytes: Uint8Array, start: number, end: number): void {
    this.eventCount++;
    if (this.fault !== undefined) return;
    if (this.events.has(bytes, start, end)) {
      this.contentCount++;
      return;
    }
    const finding = explainEvent(this.kind, decoder.decode(bytes.subarray(start, end)));
    if (finding.reason !== undefined) this.fault = faultOf(finding.reason, bytes, start, end);
    else if (finding.hasContent) {
      this.contentCount++;
      this.events.add(bytes, start, end);
    }
  }

  end(): ResponseFault | undefined {
    if (this.eventCount === 0) return this.pieces.end((bytes) => this.whole(bytes, 0, bytes.length, this.head));
    if (this.fault !== undefined || this.contentCount > 0) return this.fault;
    return faultOf("the stream ended without an event that has data", NO_BYTES);
  }

  /** Checks events that arrived as one body, because the server did not declare a stream. */
  private explainEvents(text: string): string | undefined {
    this.begin({ jsonBytes: 0, isJson: false });
    for (const event of text.split(/(?<=\r\n\r\n|\n\n|\r\r)/)) {
      const { reason, hasContent } = explainEvent(this.kind, event);
      if (reason !== undefined) return reason;
      if (hasContent) this.contentCount++;
    }
    return this.contentCount > 0 ? undefined : "the response is events without data";
  }

  private explainText(text: string, isJson: boolean): string | undefined {
    if (text.trim() === "") return EMPTY_RESPONSE;
    if (isPage(text)) return PAGE_FOUND;
    const { kind } = this;
    const json = parseJson(text);
    if (json === undefined) return kind === undefined && !isJson ? undefined : NOT_JSON;
    const first: unknown = Array.isArray(json) ? json[0] : json;
    if (isObject(first) && reportsError(first)) return SENT_ERROR;
    if (kind === undefined) return undefined;
    if (typeof json !== "object" || json === null) return NOT_OBJECT;
    return explainMissing(kind, first);
  }
}

/** Required fields by kind. Responses of other kinds differ too much between servers. */
const NEEDED: Readonly<Partial<Record<ResponseKind, readonly string[]>>> = {
  chat: ["choices"],
  multimodal: ["choices"],
  completions: ["choices"],
  responses: ["output"],
  anthropic: ["content"],
  embeddings: ["data", "embeddings"],
  nvclip: ["data", "embeddings"],
};

function explainMissing(kind: ResponseKind, json: unknown): string | undefined {
  const needed = NEEDED[kind];
  if (needed === undefined) return undefined;
  if (isObject(json)) for (const name of needed) if (Array.isArray(json[name])) return undefined;
  return `the response has no list of ${needed[0]}`;
}

const LF = 10;
const LETTER_D = 0x64;
/** Enough to recognize an event. This many bytes are compared for every token. */
const HEAD_BYTES = 64;
/** At least the end of an event's JSON with its empty line. */
const TAIL_BYTES = 3;
/** More kinds of events than any protocol has. */
const MAX_FORMS = 32;
/** Start of an event whose document begins with an error. */
const ERROR_START = 'data: {"error"';

/** Common parts of valid events, by the length of the first line if that is the event's name. */
class EventForms {
  private readonly forms = new Map<number, ResponseForm>();

  /** Whether an event has everything that the valid events have in common. */
  has(bytes: Uint8Array, start: number, end: number): boolean {
    if (startsWith(bytes, start, end, ERROR_START)) return false;
    return this.forms.get(keyOf(bytes, start, end))?.has(bytes, start, end) === true;
  }

  /** Learns from a valid event with data. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const key = keyOf(bytes, start, end);
    let form = this.forms.get(key);
    if (form === undefined) {
      if (this.forms.size >= MAX_FORMS) return;
      form = new ResponseForm(HEAD_BYTES, TAIL_BYTES);
      this.forms.set(key, form);
    }
    form.add(bytes, start, end);
  }
}

/** Returns the length of the first line if it is the event's name, otherwise 0. */
function keyOf(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] === LETTER_D) return 0;
  const lineEnd = bytes.indexOf(LF, start);
  return lineEnd < 0 || lineEnd >= end ? 0 : lineEnd - start + 1;
}

function startsWith(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start < text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false;
  return true;
}
