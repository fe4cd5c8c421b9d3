const KEPT_CAPACITY_BYTES = 64 * 1024; // 64 KiB
const LARGE_BYTES = 16 * 1024 * 1024; // 16 MiB; larger buffers grow by a quarter and are not copied to fit
const NOTHING = new Uint8Array(0);

/** A growing byte buffer. Its size is proportional to the bytes appended, however small the pieces are. */
export class GrowingBytes {
  /** Number of bytes held. */
  length = 0;
  private buffer: Uint8Array = NOTHING;

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
      const grown = new Uint8Array(Math.max(needed, Math.ceil(this.buffer.length * factor)));
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
    this.length = 0;
    this.buffer = NOTHING;
  }
}
