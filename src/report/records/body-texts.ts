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

/**
 * Writes the bodies of the responses to a payload as perf_analyzer's profile export has them, separated by commas. Events of a stream differ
 * in few bytes, so the rest is copied from the text of an earlier event.
 * @param change called with the text of a body that contains an empty JSON list. Returns the text to write
 */
export function writeBodies(out: TextBuffer, bodies: readonly Uint8Array[], change?: (text: string) => string): void {
  let model: Model | undefined;
  for (let i = 0; i < bodies.length; i++) {
    const body = bodies[i] as Uint8Array;
    const like = model !== undefined && isLike(model, body) ? model : undefined;
    if (change !== undefined && hasEmptyList(body, like?.headBytes ?? 0)) {
      out.append(`${i === 0 ? "" : ","}${START}`);
      out.append(`${JSON.stringify(change(decodeText(body))).slice(1, -1)}${END}`);
    } else if (like !== undefined) {
      const end = body.length - like.tailBytes;
      out.copyWithin(like.headStart, like.headEnd);
      writeEscaped(out, body, like.headBytes, end);
      out.copyWithin(like.tailStart, like.tailEnd);
      if (end - like.headBytes > MOST_DIFFERENT_BYTES) model = undefined;
    } else model = writeModel(out, body, bodies[i - 1]);
  }
}

/** A written body, with the bytes that it has in common with another, and with the places of their text in the output. */
interface Model {
  readonly body: Uint8Array;
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly headStart: number;
  readonly headEnd: number;
  readonly tailStart: number;
  readonly tailEnd: number;
}

function isLike({ body: model, headBytes, tailBytes }: Model, body: Uint8Array): boolean {
  return (
    body.length >= headBytes + tailBytes &&
    isSameBytes(model, 0, body, 0, headBytes) &&
    isSameBytes(model, model.length - tailBytes, body, body.length - tailBytes, tailBytes)
  );
}

/** Writes a body. Returns it as a model of the next ones if it has enough in common with the one before. */
function writeModel(out: TextBuffer, body: Uint8Array, before: Uint8Array | undefined): Model | undefined {
  const [headBytes, tailBytes] = before === undefined ? [0, 0] : findCommon(body, before);
  const headStart = out.length;
  out.append(`${before === undefined ? "" : ","}${START}`);
  writeEscaped(out, body, 0, headBytes);
  const headEnd = out.length;
  writeEscaped(out, body, headBytes, body.length - tailBytes);
  const tailStart = out.length;
  writeEscaped(out, body, body.length - tailBytes, body.length);
  out.append(END);
  if (headBytes + tailBytes < FEWEST_COMMON_BYTES) return undefined;
  return { body, headBytes, tailBytes, headStart, headEnd, tailStart, tailEnd: out.length };
}

/** Returns how many bytes two bodies have in common at their start, and how many at their end; only ASCII, so that no character is cut. */
function findCommon(a: Uint8Array, b: Uint8Array): [headBytes: number, tailBytes: number] {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head] && (a[head] as number) < FIRST_BEYOND_ASCII) head++;
  let tail = 0;
  while (tail < most - head) {
    const byte = a[a.length - 1 - tail] as number;
    if (byte !== b[b.length - 1 - tail] || byte >= FIRST_BEYOND_ASCII) break;
    tail++;
  }
  return [head, tail];
}

/** Whether a list without elements ends at `body[from]` or later. */
function hasEmptyList(body: Uint8Array, from: number): boolean {
  for (let at = from; at < body.length; at++) {
    if (body[at] !== CLOSING) continue;
    let before = at - 1;
    while (before >= 0 && (body[before] as number) <= SPACE) before--;
    if (body[before] === OPENING) return true;
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
