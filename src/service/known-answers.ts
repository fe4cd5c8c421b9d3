import { isSameBytes } from "../runtime/same-bytes.ts";

/**
 * Remembers answers that were decoded and found good. An answer of which everything that decides that is the same as in one of them is good
 * too, and need not be decoded: seeing that costs a tenth of a microsecond.
 */

/** Bytes that several answers have in common, by their distance from a place. */
class CommonBytes {
  private readonly bytes: Uint8Array;
  /** `from, to` pairs of the places that are compared, ascending. */
  private ranges: readonly number[];

  constructor(bytes: Uint8Array, ranges: readonly number[]) {
    this.bytes = bytes;
    this.ranges = ranges;
  }

  /** How many bytes are compared. */
  get count(): number {
    let count = 0;
    for (let i = 0; i < this.ranges.length; i += 2)
      count += (this.ranges[i + 1] as number) - (this.ranges[i] as number);
    return count;
  }

  /** How far the comparison reaches. */
  get reach(): number {
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

  /** Leaves out what is not so in `other[start, end)`. */
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

/** Lengths of which an answer is remembered. */
const MAX_LENGTHS = 64;

/** Good answers by their length, for formats that say where what may vary begins and ends: all else must be the same. */
export class KnownAnswers {
  private readonly byLength = new Map<number, { readonly headBytes: number; readonly common: CommonBytes }>();

  /**
   * Whether an answer is as good as one that is known.
   *
   * @param totalBytes length of the whole answer
   * @param headBytes length of its part that is compared, `bytes[start, start + headBytes)`
   */
  has(bytes: Uint8Array, start: number, headBytes: number, totalBytes: number): boolean {
    const known = this.byLength.get(totalBytes);
    return known !== undefined && known.headBytes === headBytes && known.common.areIn(bytes, start);
  }

  /** Remembers a good answer. @param fixed `from, to` pairs of what must be the same, from its beginning */
  add(bytes: Uint8Array, start: number, headBytes: number, totalBytes: number, fixed: readonly number[]): void {
    if (this.byLength.size >= MAX_LENGTHS && !this.byLength.has(totalBytes)) return;
    const reach = fixed.at(-1) ?? 0;
    this.byLength.set(totalBytes, { headBytes, common: new CommonBytes(bytes.slice(start, start + reach), fixed) });
  }
}

/** With fewer bytes in common nothing can be told from them. */
const LEAST_COMMON_BYTES = 16;

/** What good answers of one form have in common at their beginnings and ends, for formats that do not say what varies: it is learnt. */
export class AnswerForm {
  private readonly headBytes: number;
  private readonly tailBytes: number;
  private head: CommonBytes | undefined;
  private tail: CommonBytes | undefined;
  private isTelling = false;

  /** @param headBytes how much of an answer's beginning is looked at, and `tailBytes` of its end */
  constructor(headBytes: number, tailBytes: number) {
    this.headBytes = headBytes;
    this.tailBytes = tailBytes;
  }

  /** Whether `bytes[start, end)` has what all good answers had so far. */
  has(bytes: Uint8Array, start: number, end: number): boolean {
    const { head, tail } = this;
    if (!this.isTelling || head === undefined || tail === undefined) return false;
    if (end - start < head.reach || end - start < this.tailBytes) return false;
    return head.areIn(bytes, start) && tail.areIn(bytes, end - this.tailBytes);
  }

  /** Takes a good answer. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length < this.tailBytes) return;
    const tailStart = end - this.tailBytes;
    if (this.head === undefined || this.tail === undefined) {
      const reach = Math.min(length, this.headBytes);
      this.head = new CommonBytes(bytes.slice(start, start + reach), [0, reach]);
      this.tail = new CommonBytes(bytes.slice(tailStart, end), [0, this.tailBytes]);
    } else {
      this.head.narrow(bytes, start, Math.min(end, start + this.headBytes));
      this.tail.narrow(bytes, tailStart, end);
    }
    this.isTelling = this.head.count >= LEAST_COMMON_BYTES && this.tail.count > 0;
  }
}
