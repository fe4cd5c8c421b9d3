import { NO_BYTES } from "../runtime/bytes.ts";
import { MOST_RESPONSES_BYTES, ResponsesTooLargeError } from "./failure.ts";

const KEPT_CAPACITY_BYTES = 64 * 1024; // 64 KiB
const LARGE_BYTES = 16 * 1024 * 1024; // 16 MiB; larger buffers grow by a quarter and are not copied to fit

/** Maximum size of all large buffers together. */
export class ByteBudget {
  private mostBytes: number;
  private usedBytes = 0;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  /** Changes the limit. What is in use stays so. */
  limitTo(mostBytes: number): void {
    this.mostBytes = mostBytes;
  }

  /** @throws ResponsesTooLargeError when that is too much, and others have a part of it */
  take(bytes: number): void {
    if (this.usedBytes > 0 && this.usedBytes + bytes > this.mostBytes)
      throw new ResponsesTooLargeError(this.mostBytes, bytes);
    this.usedBytes += bytes;
  }

  /** Counts what is already in memory. */
  add(bytes: number): void {
    this.usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.usedBytes -= bytes;
  }

  /** Returns the error when more is in use than allowed. @param ownBytes the part of one response, which may have more alone */
  excess(ownBytes: number): ResponsesTooLargeError | undefined {
    const isExceeded = this.usedBytes > this.mostBytes && this.usedBytes > ownBytes;
    return isExceeded ? new ResponsesTooLargeError(this.mostBytes, ownBytes) : undefined;
  }
}

/** Budget of the incomplete responses of this thread. */
export const RESPONSES_BUDGET = new ByteBudget(MOST_RESPONSES_BYTES);

/** Whether a buffer is large enough to be counted. Smaller ones are as many as requests in flight, which have a limit. */
export function isCounted(bytes: number): boolean {
  return bytes > KEPT_CAPACITY_BYTES;
}

/** Whether a buffer is so large that its memory is freed at once. */
export function isLarge(bytes: number): boolean {
  return bytes >= LARGE_BYTES;
}

/** Frees the memory of a large buffer now: the garbage collector may let several gigabytes wait. Its views are empty after that. */
export function freeNow(bytes: Uint8Array): void {
  // Reading `buffer` takes 50 ns.
  if (isLarge(bytes.length) && bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}

/** A growing byte buffer. Its size is proportional to the bytes appended, however small the pieces are. */
export class GrowingBytes {
  /** Number of bytes in the buffer. */
  length = 0;
  private buffer: Uint8Array = NO_BYTES;
  private readonly budget: ByteBudget | undefined;
  /** Number of bytes counted against the budget. */
  private countedBytes = 0;
  private expectedBytes = 0;

  /** @param budget budget that the buffer counts against once it is large. Default: none */
  constructor(budget?: ByteBudget) {
    this.budget = budget;
  }

  /** Announces how much will be appended. It counts, and a large buffer has that size, but not before a part of it has come: it may be wrong. */
  expect(bytes: number): void {
    this.expectedBytes = bytes;
  }

  /** Adds a copy of `bytes[start, end)`. @throws ResponsesTooLargeError */
  append(bytes: Uint8Array, start: number, end: number): void {
    const needed = this.length + end - start;
    if (this.length === 0 && this.buffer.length < needed) {
      // Usually the first piece is the only one.
      this.count(needed);
      this.buffer = bytes.slice(start, end);
      this.length = needed;
      return;
    }
    if (this.buffer.length < needed) {
      const size = this.sizeFor(needed);
      this.count(size);
      const grown = new Uint8Array(size);
      grown.set(this.view());
      freeNow(this.buffer);
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
    this.reset();
    if (buffer.length === length) return buffer;
    return length < LARGE_BYTES ? buffer.slice(0, length) : buffer.subarray(0, length);
  }

  /** Drops the first `count` bytes. */
  drop(count: number): void {
    if (this.buffer.length > KEPT_CAPACITY_BYTES) {
      const rest = this.buffer.slice(count, this.length);
      freeNow(this.buffer);
      this.buffer = rest;
      this.uncount();
      this.count(rest.length);
    } else if (count < this.length) this.buffer.copyWithin(0, count, this.length);
    this.length -= count;
  }

  clear(): void {
    freeNow(this.buffer);
    this.reset();
  }

  private reset(): void {
    if (this.countedBytes > 0) this.uncount();
    this.length = 0;
    this.expectedBytes = 0;
    this.buffer = NO_BYTES;
  }

  private sizeFor(needed: number): number {
    const { expectedBytes, buffer } = this;
    if (needed >= LARGE_BYTES) return Math.max(needed, expectedBytes, Math.ceil(buffer.length * 1.25));
    const doubled = 2 * buffer.length;
    return Math.max(needed, expectedBytes === 0 ? doubled : Math.min(doubled, expectedBytes));
  }

  private count(presentBytes: number): void {
    const bytes = Math.max(presentBytes, this.expectedBytes);
    if (this.budget === undefined || !isCounted(presentBytes) || bytes <= this.countedBytes) return;
    this.uncount();
    this.budget.take(bytes);
    this.countedBytes = bytes;
  }

  private uncount(): void {
    this.budget?.giveBack(this.countedBytes);
    this.countedBytes = 0;
  }
}
