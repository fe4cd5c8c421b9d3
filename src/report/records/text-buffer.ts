import { copyBytes } from "../../runtime/bytes.ts";

const FIRST_BYTES = 128 * 1024;
/** A larger buffer is dropped once its text is. */
const MOST_KEPT_BYTES = 4 * 1024 * 1024;
/** Below this length, a loop is faster than a native call. */
const NATIVE_FROM = 32;
const ZERO = 0x30;

/** UTF-8 text that grows in memory of its own, which is used again. */
export class TextBuffer {
  /** Number of bytes of the text. */
  length = 0;
  private bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);

  append(text: string): void {
    const { length } = text;
    this.reserve(3 * length);
    const { bytes, length: start } = this;
    if (length < NATIVE_FROM) {
      let at = 0;
      for (; at < length; at++) {
        const code = text.charCodeAt(at);
        if (code >= 0x80) break;
        bytes[start + at] = code;
      }
      if (at === length) {
        this.length = start + length;
        return;
      }
    }
    this.length = start + bytes.write(text, start);
  }

  /** Appends a copy of the bytes of the text from `start` to `end`. */
  copyWithin(start: number, end: number): void {
    this.reserve(end - start).copyWithin(this.length, start, end);
    this.length += end - start;
  }

  /** Appends a whole number with leading zeros. @param value less than 2^31 */
  appendDigits(value: number, digitCount: number): void {
    const bytes = this.reserve(digitCount);
    const { length } = this;
    let left = value | 0;
    for (let at = length + digitCount - 1; at >= length; at--) {
      const next = (left / 10) | 0;
      bytes[at] = ZERO + (left - 10 * next);
      left = next;
    }
    this.length = length + digitCount;
  }

  /** Returns the text from a byte on. */
  textFrom(start: number): string {
    return this.bytes.toString("utf8", start, this.length);
  }

  /** A view of the bytes, valid until the next change. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** Drops the text after the given number of bytes. */
  truncate(length: number): void {
    this.length = length;
    if (length === 0 && this.bytes.length > MOST_KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  /** Makes room for that many more bytes. Returns the memory of the text, valid until the next change. */
  reserve(byteCount: number): Uint8Array {
    const needed = this.length + byteCount;
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
      copyBytes(this.bytes, 0, this.length, grown, 0);
      this.bytes = grown;
    }
    return this.bytes;
  }
}
