/** After this long without a sign of closing, a server keeps the connection for another request. */
const CLOSE_FOLLOWS_STREAM_NS = 10e6; // 10 ms
/** Whole responses that a close follows without notice are rare, and requests more frequent. */
const CLOSE_FOLLOWS_NS = 3e6; // 3 ms
/** After the slot has lost a connection in this way: a busy server closes later. A server that keeps its connections costs this wait once. */
const CLOSE_FOLLOWS_AGAIN_NS = 100e6; // 100 ms
/** A server that closes within this time of a response closed because of it, not because the connection was idle. */
const CLOSED_AFTER_RESPONSE_NS = 1e9; // 1 s

/** What the connections of all slots have shown of their server. */
export interface ServerReuse {
  /** Some connection has carried a second request. */
  isProven: boolean;
}

/**
 * Whether a slot's connection that has answered its first request may carry a second one at once. Some servers (llama.cpp's, after a
 * stream) close without having said so, just when the next request leaves, and never read it. Until a connection of the slot has shown
 * otherwise, its second request therefore waits for the close that would follow directly. A lost connection costs its own slot that wait
 * once; it changes nothing for the other slots.
 */
export class ReuseTrust {
  private readonly server: ServerReuse;
  /** What this slot's own connections have shown; undefined: nothing yet. */
  private keeps: boolean | undefined;

  constructor(server: ServerReuse) {
    this.server = server;
  }

  /**
   * How long the second request must still wait. In nanoseconds; 0 or less: not at all.
   * @param endedNs when the first response ended
   * @param isStream whether that was a stream
   */
  waitNs(endedNs: number, isStream: boolean, atNs: number): number {
    if (this.keeps ?? this.server.isProven) return 0;
    const firstNs = isStream ? CLOSE_FOLLOWS_STREAM_NS : CLOSE_FOLLOWS_NS;
    return endedNs + (this.keeps === false ? CLOSE_FOLLOWS_AGAIN_NS : firstNs) - atNs;
  }

  /** A connection of the slot has answered its second request. */
  prove(): void {
    this.keeps = true;
    this.server.isProven = true;
  }

  /** A connection of the slot that had answered was closed without notice. @param endedNs when its last response ended */
  refute(endedNs: number, atNs: number): void {
    if (atNs - endedNs < CLOSED_AFTER_RESPONSE_NS) this.keeps = false;
  }
}
