import { isSameBytes } from "../../runtime/bytes.ts";
import { decodeText } from "../../service/tensor-json.ts";
import type { TextBuffer } from "./text-buffer.ts";

/** Start and end of a body in the export. */
const START = '{"response":"';
const END = '"}';

/** If a body differs from the model in more bytes, a later body becomes the model. */
const MOST_DIFFERENT_BYTES = 64;
/** A body with fewer bytes in common with the previous one does not become a model. */
const FEWEST_COMMON_BYTES = 32;
/** Longest form of a byte in a string of JSON. */
const LONGEST_ESCAPE = 6;

const BACKSLASH = 0x5c;
const OPENING = "[".charCodeAt(0);
const CLOSING = "]".charCodeAt(0);
const SPACE = 0x20;
const FIRST_BEYOND_ASCII = 0x80;
const HEX = "0123456789abcdef";

/** In `ESCAPES`: a control character without a short form. */
const CONTROL = 1;
/** How a byte of ASCII stands in a string of JSON. 0: as it is. Otherwise the character after a backslash. */
const ESCAPES = new Uint8Array(FIRST_BEYOND_ASCII);
ESCAPES.fill(CONTROL, 0, SPACE);
for (const [character = "", shortForm = ""] of ['""', "\\\\", "\bb", "\ff", "\nn", "\rr", "\tt"])
  ESCAPES[character.charCodeAt(0)] = shortForm.charCodeAt(0);

/** Bytes of a body, `bytes[start, end)`. */
interface Body {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** A written body, with the bytes that it has in common with another, and with the places of their text in the output. */
interface Model extends Body {
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly headStart: number;
  readonly headEnd: number;
  readonly tailStart: number;
  readonly tailEnd: number;
}

/**
 * Writes the bodies of the responses to a payload as perf_analyzer's profile export has them, separated by commas. Events of a stream differ
 * in few bytes, so the rest is copied from the text of an earlier event.
 */
export class BodyWriter {
  private readonly out: TextBuffer;
  private readonly change: ((text: string) => string) | undefined;
  private model: Model | undefined;
  /** The latest body, without those like the model. */
  private before: Body | undefined;
  /** Whether the end of the latest body, which is like the model, is not written yet: it is copied together with the start of the next one. */
  private isOpen = false;
  /** Place in the output of an end with the next start. Without one both are 0. */
  private seamStart = 0;
  private seamEnd = 0;

  /** @param change called with the text of a body that contains an empty JSON list. Returns the text to write */
  constructor(out: TextBuffer, change?: (text: string) => string) {
    this.out = out;
    this.change = change;
  }

  /** Writes the next body, `bytes[start, end)`. Its memory must not change until {@link end}. */
  write(bytes: Uint8Array, start: number, end: number): void {
    const { out, change, model } = this;
    const like = model !== undefined && isLike(model, bytes, start, end) ? model : undefined;
    const isChanged = change !== undefined && hasEmptyList(bytes, start + (like?.headBytes ?? 0), start, end);
    if (isChanged || like === undefined) this.end();
    if (isChanged) {
      out.append(`${this.before === undefined ? "" : ","}${START}`);
      out.append(`${JSON.stringify(change(decodeText(bytes.subarray(start, end)))).slice(1, -1)}${END}`);
      this.before = { bytes, start, end };
    } else if (like !== undefined) {
      const from = start + like.headBytes;
      const to = end - like.tailBytes;
      this.writeStart(like);
      writeEscaped(out, bytes, from, to);
      this.isOpen = true;
      if (to - from > MOST_DIFFERENT_BYTES) {
        this.end();
        this.model = undefined;
        this.before = { bytes, start, end };
      }
    } else this.writeModel({ bytes, start, end });
  }

  /** Completes the last body. */
  end(): void {
    if (this.isOpen && this.model !== undefined) this.out.copyWithin(this.model.tailStart, this.model.tailEnd);
    this.isOpen = false;
  }

  /** Writes the start of a body like the model, after the end of the one before. */
  private writeStart(model: Model): void {
    const { out, isOpen, seamEnd } = this;
    if (isOpen && seamEnd > 0) {
      out.copyWithin(this.seamStart, seamEnd);
      return;
    }
    const seamStart = out.length;
    this.end();
    out.copyWithin(model.headStart, model.headEnd);
    if (!isOpen) return;
    this.seamStart = seamStart;
    this.seamEnd = out.length;
  }

  /** Writes a body. It is the model of the next ones if it has enough in common with the one before. */
  private writeModel(body: Body): void {
    const { out, before } = this;
    const { bytes, start, end } = body;
    const [headBytes, tailBytes] = before === undefined ? [0, 0] : findCommon(body, before);
    const headStart = out.length;
    out.append(`${before === undefined ? "" : ","}${START}`);
    writeEscaped(out, bytes, start, start + headBytes);
    const headEnd = out.length;
    writeEscaped(out, bytes, start + headBytes, end - tailBytes);
    const tailStart = out.length;
    writeEscaped(out, bytes, end - tailBytes, end);
    out.append(END);
    this.seamEnd = 0;
    this.model =
      headBytes + tailBytes < FEWEST_COMMON_BYTES
        ? undefined
        : { ...body, headBytes, tailBytes, headStart, headEnd, tailStart, tailEnd: out.length };
    this.before = body;
  }
}

function isLike(model: Model, bytes: Uint8Array, start: number, end: number): boolean {
  const { headBytes, tailBytes } = model;
  return (
    end - start >= headBytes + tailBytes &&
    isSameBytes(model.bytes, model.start, bytes, start, headBytes) &&
    isSameBytes(model.bytes, model.end - tailBytes, bytes, end - tailBytes, tailBytes)
  );
}

/** Returns how many bytes two bodies have in common at their start, and how many at their end; only ASCII, so that no character is cut. */
function findCommon(a: Body, b: Body): [headBytes: number, tailBytes: number] {
  const most = Math.min(a.end - a.start, b.end - b.start);
  let head = 0;
  for (; head < most; head++) {
    const byte = a.bytes[a.start + head] as number;
    if (byte !== b.bytes[b.start + head] || byte >= FIRST_BEYOND_ASCII) break;
  }
  let tail = 0;
  for (; tail < most - head; tail++) {
    const byte = a.bytes[a.end - 1 - tail] as number;
    if (byte !== b.bytes[b.end - 1 - tail] || byte >= FIRST_BEYOND_ASCII) break;
  }
  return [head, tail];
}

/** Whether a list without elements, within `bytes[start, end)`, ends at `bytes[from]` or later. */
function hasEmptyList(bytes: Uint8Array, from: number, start: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    if (bytes[at] !== CLOSING) continue;
    let before = at - 1;
    while (before >= start && (bytes[before] as number) <= SPACE) before--;
    if (before >= start && bytes[before] === OPENING) return true;
  }
  return false;
}

/** Writes `text[start, end)` as the content of a string of JSON. */
function writeEscaped(out: TextBuffer, text: Uint8Array, start: number, end: number): void {
  const bytes = out.reserve(LONGEST_ESCAPE * (end - start));
  let at = out.length;
  for (let i = start; i < end; i++) {
    const byte = text[i] as number;
    if (byte >= FIRST_BEYOND_ASCII) {
      out.length = at;
      out.append(JSON.stringify(decodeText(text.subarray(i, end))).slice(1, -1));
      return;
    }
    const form = ESCAPES[byte] as number;
    if (form === 0) {
      bytes[at++] = byte;
      continue;
    }
    bytes[at++] = BACKSLASH;
    if (form === CONTROL) {
      for (const character of `u00${HEX[byte >> 4]}${HEX[byte & 15]}`) bytes[at++] = character.charCodeAt(0);
    } else bytes[at++] = form;
  }
  out.length = at;
}
