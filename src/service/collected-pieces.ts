import type { ResponseCheck, ResponseFault } from "../transport/response-check.ts";

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

/** Checks a response that arrives in pieces as a whole, once it is complete. */
export abstract class CollectedCheck implements ResponseCheck {
  private readonly pieces = new CollectedPieces();
  private readonly limitBytes: number;

  /** @param limitBytes maximum number of bytes that the check needs. Default: all; the client limits their number */
  constructor(limitBytes = Number.POSITIVE_INFINITY) {
    this.limitBytes = limitBytes;
  }

  abstract whole(bytes: Uint8Array, start: number, end: number): ResponseFault | undefined;

  begin(): void {
    this.pieces.reset(this.limitBytes);
  }

  piece(bytes: Uint8Array, start: number, end: number): void {
    this.pieces.add(bytes, start, end);
  }

  /** Handles an event like a piece. Responses of HTTP/2 have no events. */
  event(bytes: Uint8Array, start: number, end: number): void {
    this.pieces.add(bytes, start, end);
  }

  end(): ResponseFault | undefined {
    return this.whole(this.pieces.bytes, 0, this.pieces.keptBytes);
  }
}
