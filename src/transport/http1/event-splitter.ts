import { EventTooLargeError } from "../failure.ts";
import { GrowingBytes, RESPONSES_BUDGET } from "../growing-bytes.ts";

const LF = 10;
const CR = 13;

/** Receives an event with the empty line at its end: `bytes[start, end)`, valid during the call. */
export type OnEvent = (bytes: Uint8Array, start: number, end: number) => void;

/**
 * Splits a response body into server-sent events (WHATWG HTML, 9.2), independently of how the bytes arrive. A line ends with LF, CRLF or
 * CR. An event ends with an empty line. Empty lines between events are dropped. Events are not parsed. `feed` calls back for each event
 * that it completes.
 * @throws EventTooLargeError from `feed`, when an incomplete event has more than `maxEventBytes`
 */
export class EventSplitter {
  private readonly onEvent: OnEvent;
  private readonly maxEventBytes: number;
  /** Bytes of an incomplete event. */
  private readonly carry = new GrowingBytes(RESPONSES_BUDGET);
  /** Start in `carry` of the incomplete line. */
  private lineStart = 0;
  /** Offset in `carry` where the search continues: no line ends between `lineStart` and here. */
  private searched = 0;
  /** Whether the last byte was a CR that ended a line, so that a following LF belongs to it. */
  private isAfterCr = false;

  constructor(onEvent: OnEvent, maxEventBytes: number) {
    this.onEvent = onEvent;
    this.maxEventBytes = maxEventBytes;
  }

  /** Takes the next bytes of the body, `bytes[start, end)`. Does not keep them. */
  feed(bytes: Uint8Array, start: number, end: number): void {
    if (this.carry.length === 0) {
      const rest = this.split(bytes, start, end);
      if (rest < end) this.carry.append(bytes, rest, end);
      return;
    }
    this.carry.append(bytes, start, end);
    const rest = this.split(this.carry.view(), 0, this.carry.length);
    if (rest > 0) this.carry.drop(rest);
    if (this.carry.length > this.maxEventBytes) throw new EventTooLargeError(this.maxEventBytes);
  }

  /** Drops an incomplete event of a body that ends early. */
  clear(): void {
    this.carry.clear();
  }

  /** Ends the body. Remaining bytes are an event, even without an empty line. */
  end(): void {
    const left = this.carry.take();
    this.lineStart = 0;
    this.searched = 0;
    this.isAfterCr = false;
    if (left.length > 0) this.onEvent(left, 0, left.length);
  }

  /**
   * Calls back for the events in `bytes[start, end)`. Returns the start of the first incomplete event. Its incomplete line starts at
   * `lineStart`, and no line ends before `searched`.
   */
  private split(bytes: Uint8Array, start: number, end: number): number {
    let position = start;
    let line = start + this.lineStart;
    const from = start + this.searched;
    // Few streams contain a CR. A single search is enough for those without one.
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
        // After a line that ended with LF, the CR is half of a CRLF whose LF has not arrived.
        if (isEmpty && position < line && bytes[line - 1] === LF) {
          searched = line;
          break;
        }
        this.isAfterCr = true;
      }
      line = next;
      if (!isEmpty) {
        // Most events end here: an empty line follows.
        if (isCr || line === end || bytes[line] !== LF) continue;
        line++;
        this.onEvent(bytes, position, line);
        position = line;
        continue;
      }
      if (position < lineEnd) this.onEvent(bytes, position, next);
      position = next;
    }
    this.lineStart = line - position;
    this.searched = searched - position;
    return position;
  }
}

/** Like `bytes.indexOf`, within `[from, end)`; returns `end` if not found. */
function indexOf(bytes: Uint8Array, byte: number, from: number, end: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 || at > end ? end : at;
}
