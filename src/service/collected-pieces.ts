import { GrowingBytes, RESPONSES_BUDGET } from "../transport/growing-bytes.ts";
import type { ResponseCheck, ResponseFault } from "../transport/response-check.ts";

/** Collects the beginning of a response that arrives in pieces. What is large counts against the budget of all responses. */
export class CollectedPieces {
  /** Length of the response so far. */
  totalBytes = 0;
  private readonly kept = new GrowingBytes(RESPONSES_BUDGET);
  private limitBytes = 0;

  /** Begins the next response, and drops the last one. @param limitBytes maximum number of bytes to keep. Default: all */
  begin(limitBytes = Number.POSITIVE_INFINITY): void {
    this.drop();
    this.limitBytes = limitBytes;
    this.totalBytes = 0;
  }

  /** Ends the response. @param check receives the kept bytes, and may use them only during the call */
  end<T>(check: (bytes: Uint8Array) => T): T {
    const result = check(this.kept.view());
    this.drop();
    return result;
  }

  private drop(): void {
    this.kept.drop(this.kept.length);
  }

  /** @throws ResponsesTooLargeError */
  add(bytes: Uint8Array, start: number, end: number): void {
    this.totalBytes += end - start;
    const size = Math.min(end - start, this.limitBytes - this.kept.length);
    if (size > 0) this.kept.append(bytes, start, start + size);
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
    this.pieces.begin(this.limitBytes);
  }

  piece(bytes: Uint8Array, start: number, end: number): void {
    this.pieces.add(bytes, start, end);
  }

  /** Handles an event like a piece. Responses of HTTP/2 have no events. */
  event(bytes: Uint8Array, start: number, end: number): void {
    this.pieces.add(bytes, start, end);
  }

  end(): ResponseFault | undefined {
    return this.pieces.end((bytes) => this.whole(bytes, 0, bytes.length));
  }
}
