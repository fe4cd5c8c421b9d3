import { nowNs } from "../../runtime/clock.ts";
import type { Http2Connection } from "../http2/connection.ts";

/** Tracks how the server accepts the bytes of a stream. A server that accepts a long request slowly is not silent. */
export class SendProgress {
  /** Number of bytes that waited for flow control at the last check. */
  private unsentBytes = 0;
  private lastNs = 0;

  /** Returns the time of the last check at which the number of waiting bytes had changed; 0 before that. */
  look(connection: Http2Connection | undefined, streamId: number): number {
    const unsentBytes = connection?.unsentBytes(streamId) ?? 0;
    if (unsentBytes === this.unsentBytes) return this.lastNs;
    this.unsentBytes = unsentBytes;
    this.lastNs = nowNs();
    return this.lastNs;
  }
}
