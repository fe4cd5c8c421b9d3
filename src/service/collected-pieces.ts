const FIRST_BYTES = 4096;
/** A larger buffer is not kept for the next response. */
const MAX_KEPT_BYTES = 1024 * 1024; // 1 MiB

/** Collects the beginning of a response that arrives in pieces. */
export class CollectedPieces {
  /** Only the first `keptBytes` are valid; the next response overwrites them. */
  bytes = new Uint8Array(FIRST_BYTES);
  keptBytes = 0;
  /** Length of the response so far. */
  totalBytes = 0;
  private limitBytes = 0;

  /** Begins the next response. @param limitBytes maximum number of bytes to keep */
  reset(limitBytes: number): void {
    if (this.bytes.length > MAX_KEPT_BYTES) this.bytes = new Uint8Array(FIRST_BYTES);
    this.limitBytes = limitBytes;
    this.keptBytes = 0;
    this.totalBytes = 0;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    this.totalBytes += end - start;
    const size = Math.min(end - start, this.limitBytes - this.keptBytes);
    if (size <= 0) return;
    const needed = this.keptBytes + size;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
      grown.set(this.bytes.subarray(0, this.keptBytes));
      this.bytes = grown;
    }
    this.bytes.set(bytes.subarray(start, start + size), this.keptBytes);
    this.keptBytes = needed;
  }
}
