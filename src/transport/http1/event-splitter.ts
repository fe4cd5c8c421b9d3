import { GrowingBytes } from "../growing-bytes.ts";

const LF = 10;
const CR = 13;

/** Takes an event: its own copy of the bytes, the empty line at its end included. */
export type OnEvent = (event: Uint8Array) => void;

/**
 * Cuts the body of a response into server-sent events (WHATWG HTML, 9.2), whatever pieces the socket delivers. Lines end with LF, CRLF or
 * CR, an event with an empty line; empty lines between events belong to none. The content of an event is not looked at. It knows no clock:
 * an event is told within the `feed` that completed it.
 */
export class EventSplitter {
  private readonly onEvent: OnEvent;
  /** Bytes of an event that is not complete yet. */
  private readonly carry = new GrowingBytes();
  /** Where in `carry` the line begins that has not ended yet. */
  private lineStart = 0;
  /** Where in `carry` to look on: from `lineStart` to here no line ends. */
  private searched = 0;
  /** The last byte was a CR that ended a line: an LF that follows it belongs to it. */
  private isAfterCr = false;

  constructor(onEvent: OnEvent) {
    this.onEvent = onEvent;
  }

  /** Takes the next bytes of the body, `bytes[start, end)`. They are not kept. */
  feed(bytes: Uint8Array, start: number, end: number): void {
    if (this.carry.length === 0) {
      const rest = this.split(bytes, start, start, start, end);
      if (rest < end) this.carry.append(bytes, rest, end);
      return;
    }
    this.carry.append(bytes, start, end);
    const rest = this.split(this.carry.view(), 0, this.lineStart, this.searched, this.carry.length);
    if (rest > 0) this.carry.drop(rest);
  }

  /** The body ended: what is left is an event too, although nothing ended it. */
  end(): void {
    const left = this.carry.take();
    this.lineStart = 0;
    this.isAfterCr = false;
    if (left.length > 0) this.onEvent(left);
  }

  /**
   * Tells the events of `bytes[eventStart, end)`, and returns where the first one begins that is not complete.
   * @param lineStart where the first line begins that is not known to be whole
   * @param from where to look for its end
   */
  private split(bytes: Uint8Array, eventStart: number, lineStart: number, from: number, end: number): number {
    let position = eventStart;
    let line = lineStart;
    // Few streams have any CR: it is looked for once.
    let nextCr = indexOf(bytes, CR, from, end);
    let nextLf = indexOf(bytes, LF, from, end);
    let searched = end;
    while (line < end) {
      if (this.isAfterCr && bytes[line] === LF) {
        if (position === line) position++;
        line++;
      }
      this.isAfterCr = false;
      if (nextLf < line) nextLf = indexOf(bytes, LF, line, end);
      if (nextCr < line) nextCr = indexOf(bytes, CR, line, end);
      const lineEnd = Math.min(nextLf, nextCr);
      if (lineEnd === end) break;
      const isEmpty = lineEnd === line;
      const isCr = lineEnd === nextCr;
      const isCrLf = isCr && nextLf === lineEnd + 1 && nextLf < end;
      const next = lineEnd + (isCrLf ? 2 : 1);
      if (isCr && !isCrLf && next === end) {
        // After a line that ended with LF the CR is half of a line break whose other half has not come.
        if (isEmpty && position < line && bytes[line - 1] === LF) {
          searched = line;
          break;
        }
        this.isAfterCr = true;
      }
      line = next;
      if (!isEmpty) {
        // Most events end here: the empty line is next.
        if (isCr || line === end || bytes[line] !== LF) continue;
        line++;
        this.onEvent(bytes.slice(position, line));
        position = line;
        continue;
      }
      if (position < lineEnd) this.onEvent(bytes.slice(position, next));
      position = next;
    }
    this.lineStart = line - position;
    this.searched = searched - position;
    return position;
  }
}

/** As `indexOf`, within `[from, end)`; `end` when there is none. */
function indexOf(bytes: Uint8Array, byte: number, from: number, end: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 || at > end ? end : at;
}
