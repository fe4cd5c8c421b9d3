import { isSameBytes } from "../runtime/bytes.ts";

/**
 * Remembers valid responses. A response whose significant bytes equal those of a valid one is valid too and need not be decoded; the
 * comparison takes a tenth of a microsecond.
 */

/** Bytes that several responses have in common, by offset. */
class CommonBytes {
  private readonly bytes: Uint8Array;
  /** `from, to` pairs of the compared offsets, ascending. */
  private ranges: readonly number[];

  constructor(bytes: Uint8Array, ranges: readonly number[]) {
    this.bytes = bytes;
    this.ranges = ranges;
  }

  /** Number of compared bytes. */
  get count(): number {
    let count = 0;
    for (let i = 0; i < this.ranges.length; i += 2)
      count += (this.ranges[i + 1] as number) - (this.ranges[i] as number);
    return count;
  }

  /** End of the compared bytes. */
  get endOffset(): number {
    return this.ranges.at(-1) ?? 0;
  }

  areIn(other: Uint8Array, start: number): boolean {
    const { bytes, ranges } = this;
    for (let i = 0; i < ranges.length; i += 2) {
      const from = ranges[i] as number;
      if (!isSameBytes(bytes, from, other, start + from, (ranges[i + 1] as number) - from)) return false;
    }
    return true;
  }

  /** Removes the offsets at which `other[start, end)` differs. */
  narrow(other: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    const narrowed: number[] = [];
    for (let i = 0; i < this.ranges.length; i += 2) {
      const to = Math.min(this.ranges[i + 1] as number, end - start);
      let open = -1;
      for (let at = this.ranges[i] as number; at <= to; at++) {
        const isSame = at < to && bytes[at] === other[start + at];
        if (isSame && open < 0) open = at;
        if (isSame || open < 0) continue;
        narrowed.push(open, at);
        open = -1;
      }
    }
    this.ranges = narrowed;
  }
}

/** Maximum number of lengths for which a response is remembered. */
const MAX_LENGTHS = 64;

/** Valid responses by length, for formats that declare which bytes may vary. All other bytes must be equal. */
export class KnownResponses {
  private readonly byLength = new Map<number, { readonly headBytes: number; readonly common: CommonBytes }>();

  /**
   * Whether a response equals a known valid one.
   * @param totalBytes length of the whole response
   * @param headBytes length of its compared part, `bytes[start, start + headBytes)`
   */
  has(bytes: Uint8Array, start: number, headBytes: number, totalBytes: number): boolean {
    const known = this.byLength.get(totalBytes);
    return known !== undefined && known.headBytes === headBytes && known.common.areIn(bytes, start);
  }

  /**
   * Remembers a valid response. @param head compared part of the response
   * @param totalBytes length of the whole response
   * @param fixed `from, to` pairs of the offsets that must be equal
   */
  add(head: Uint8Array, totalBytes: number, fixed: readonly number[]): void {
    if (this.byLength.size >= MAX_LENGTHS && !this.byLength.has(totalBytes)) return;
    const endOffset = fixed.at(-1) ?? 0;
    this.byLength.set(totalBytes, {
      headBytes: head.length,
      common: new CommonBytes(head.slice(0, endOffset), fixed),
    });
  }
}

/** One in this number of responses with checked data is decoded although its form is known; fewer for long ones. */
const DECODED_EVERY = 64;

/** Minimum number of common bytes that is significant. */
const MIN_COMMON_BYTES = 16;

/**
 * The bytes that valid responses of one form have in common at their start and end, for formats that do not declare which bytes vary.
 * They are learned.
 */
export class ResponseForm {
  private readonly headBytes: number;
  private readonly tailBytes: number;
  private head: CommonBytes | undefined;
  private tail: CommonBytes | undefined;
  private isSignificant = false;
  /** Number of responses until one is decoded again; Infinity without such checks. */
  private left: number;

  /**
   * @param headBytes number of bytes compared at the start @param tailBytes number of bytes compared at the end
   * @param hasCheckedData whether the varying bytes may be wrong, so that some responses of a known form are decoded too. Default:
   * false
   */
  constructor(headBytes: number, tailBytes: number, hasCheckedData = false) {
    this.left = hasCheckedData ? DECODED_EVERY : Number.POSITIVE_INFINITY;
    this.headBytes = headBytes;
    this.tailBytes = tailBytes;
  }

  /** Whether `bytes[start, end)` has all bytes that the valid responses so far have in common, and is not due to be decoded. */
  has(bytes: Uint8Array, start: number, end: number): boolean {
    const { head, tail } = this;
    if (--this.left <= 0) {
      // The time for decoding depends on the length. This limits the average to about 0.2 ns per byte.
      this.left = Math.max(DECODED_EVERY, (end - start) >> 6);
      return false;
    }
    if (!this.isSignificant || head === undefined || tail === undefined) return false;
    if (end - start < head.endOffset || end - start < this.tailBytes) return false;
    return head.areIn(bytes, start) && tail.areIn(bytes, end - this.tailBytes);
  }

  /** Adds a valid response. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length < this.tailBytes) return;
    const tailStart = end - this.tailBytes;
    if (this.head === undefined || this.tail === undefined) {
      const endOffset = Math.min(length, this.headBytes);
      this.head = new CommonBytes(bytes.slice(start, start + endOffset), [0, endOffset]);
      this.tail = new CommonBytes(bytes.slice(tailStart, end), [0, this.tailBytes]);
    } else {
      this.head.narrow(bytes, start, Math.min(end, start + this.headBytes));
      this.tail.narrow(bytes, tailStart, end);
    }
    this.isSignificant = this.head.count >= MIN_COMMON_BYTES && this.tail.count > 0;
  }
}
