import { nowNs } from "../../runtime/clock.ts";
import type { Http2Connection } from "../http2/connection.ts";

/** Follows how the server accepts the bytes of a stream. A server that accepts a long request slowly is not silent. */
export class SendProgress {
  /** Bytes that waited for flow control at the last look. */
  private unsentBytes = 0;
  private lastNs = 0;

  /** Returns when a look last found that fewer or more bytes wait; 0 before that. */
  look(connection: Http2Connection | undefined, streamId: number): number {
    const unsentBytes = connection?.unsentBytes(streamId) ?? 0;
    if (unsentBytes === this.unsentBytes) return this.lastNs;
    this.unsentBytes = unsentBytes;
    this.lastNs = nowNs();
    return this.lastNs;
  }
}
