import { MOST_RESPONSES_BYTES, ResponsesTooLargeError } from "./failure.ts";

const KEPT_CAPACITY_BYTES = 64 * 1024; // 64 KiB
const LARGE_BYTES = 16 * 1024 * 1024; // 16 MiB; larger buffers grow by a quarter and are not copied to fit
const NOTHING = new Uint8Array(0);

/** Maximum size of all large buffers together. */
export class ByteBudget {
  private readonly mostBytes: number;
  private usedBytes = 0;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  /** @throws ResponsesTooLargeError when the total is too large and other buffers are part of it */
  take(bytes: number): void {
    if (this.usedBytes > 0 && this.usedBytes + bytes > this.mostBytes) throw new ResponsesTooLargeError(this.mostBytes);
    this.usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.usedBytes -= bytes;
  }
}

/** Budget of the incomplete responses of this thread. */
export const RESPONSES_BUDGET = new ByteBudget(MOST_RESPONSES_BYTES);

/** A growing byte buffer. Its size is proportional to the bytes appended, however small the pieces are. */
export class GrowingBytes {
  /** Number of bytes in the buffer. */
  length = 0;
  private buffer: Uint8Array = NOTHING;
  private readonly budget: ByteBudget | undefined;
  /** Number of bytes counted against the budget. */
  private countedBytes = 0;

  /** @param budget budget that the buffer counts against once it is large. Default: none */
  constructor(budget?: ByteBudget) {
    this.budget = budget;
  }

  /** Adds a copy of `bytes[start, end)`. */
  append(bytes: Uint8Array, start: number, end: number): void {
    const needed = this.length + end - start;
    if (this.length === 0 && this.buffer.length < needed) {
      // Usually the first piece is the only one.
      this.buffer = bytes.slice(start, end);
      this.length = needed;
      return;
    }
    if (this.buffer.length < needed) {
      const factor = needed < LARGE_BYTES ? 2 : 1.25;
      const size = Math.max(needed, Math.ceil(this.buffer.length * factor));
      if (needed >= LARGE_BYTES) this.count(size);
      const grown = new Uint8Array(size);
      grown.set(this.view());
      this.buffer = grown;
    }
    this.buffer.set(bytes.subarray(start, end), this.length);
    this.length = needed;
  }

  /** A view of the bytes, valid until the next change. */
  view(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  /** Returns the bytes, which the caller owns, and resets the buffer. */
  take(): Uint8Array {
    const { buffer, length } = this;
    this.clear();
    if (buffer.length === length) return buffer;
    return length < LARGE_BYTES ? buffer.slice(0, length) : buffer.subarray(0, length);
  }

  /** Drops the first `count` bytes. */
  drop(count: number): void {
    if (this.buffer.length > KEPT_CAPACITY_BYTES) this.buffer = this.buffer.slice(count, this.length);
    else if (count < this.length) this.buffer.copyWithin(0, count, this.length);
    this.length -= count;
  }

  clear(): void {
    if (this.countedBytes > 0) this.uncount();
    this.length = 0;
    this.buffer = NOTHING;
  }

  private count(bytes: number): void {
    if (this.budget === undefined) return;
    this.uncount();
    this.budget.take(bytes);
    this.countedBytes = bytes;
  }

  private uncount(): void {
    this.budget?.giveBack(this.countedBytes);
    this.countedBytes = 0;
  }
}
