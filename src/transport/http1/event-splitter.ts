const LF = 10;
const CR = 13;

/** Takes an event: its own copy of the bytes, the empty line at its end included. */
export type OnEvent = (event: Uint8Array) => void;

/**
 * Cuts the body of a response into server-sent events (WHATWG HTML, 9.2), whatever pieces the socket delivers. An event ends with an empty line;
 * its content is not looked at. It knows no clock: an event is told within the `feed` that completed it.
 */
export class EventSplitter {
  private readonly onEvent: OnEvent;
  /** Bytes of an event that is not complete yet. */
  private carry: Uint8Array | undefined;
  /** Where in `carry` to look on: before it no event ends. */
  private searched = 0;

  constructor(onEvent: OnEvent) {
    this.onEvent = onEvent;
  }

  /** Takes the next bytes of the body, `bytes[start, end)`. They are not kept. */
  feed(bytes: Uint8Array, start: number, end: number): void {
    let input = bytes;
    let position = start;
    let stop = end;
    let from = start;
    if (this.carry !== undefined) {
      const { carry } = this;
      input = new Uint8Array(carry.length + end - start);
      input.set(carry);
      input.set(bytes.subarray(start, end), carry.length);
      from = this.searched;
      position = 0;
      stop = input.length;
      this.carry = undefined;
    }
    for (;;) {
      const eventEnd = findEventEnd(input, from, stop);
      if (eventEnd < 0) break;
      this.onEvent(input.slice(position, eventEnd));
      position = eventEnd;
      from = eventEnd;
    }
    if (position === stop) return;
    this.carry = input.slice(position, stop);
    // The line break that an empty line follows may be the last three bytes, as far as they came.
    this.searched = Math.max(0, stop - position - 3);
  }

  /** The body ended: what is left is an event too, although nothing ended it. */
  end(): void {
    const { carry } = this;
    this.reset();
    if (carry !== undefined) this.onEvent(carry);
  }

  /** Forgets what is left. */
  reset(): void {
    this.carry = undefined;
    this.searched = 0;
  }
}

/** The end of the first empty line after a line: behind LF LF or LF CR LF; -1 when there is none yet. */
function findEventEnd(bytes: Uint8Array, from: number, end: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) {
    if (at + 1 < end && bytes[at + 1] === LF) return at + 2;
    if (at + 2 < end && bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}
