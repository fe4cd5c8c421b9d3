import { nowNs } from "../../runtime/clock.ts";

/** Wait after a stream. If the connection is not closed within this time, the server keeps it. */
const CLOSE_FOLLOWS_STREAM_NS = 10e6; // 10 ms
/** The same after a complete response. The wait is shorter, because such closes are rarer and requests more frequent. */
const CLOSE_FOLLOWS_NS = 3e6; // 3 ms
/**
 * The same after the slot has lost a connection, for busy servers that close later. If the server keeps its connections, this wait
 * happens only once.
 */
const CLOSE_FOLLOWS_AGAIN_NS = 100e6; // 100 ms
/** A close within this time after a response is caused by the response, a later one by idleness: servers wait for seconds. */
const CLOSED_AFTER_RESPONSE_NS = 1e9; // 1 s

/** A close within this time after a send, without any byte of a response, ends the keep-alive of the connection, not the request. */
const CLOSING_NS = 10e6; // 10 ms
/**
 * The same for a connection that had been idle, and then also for a reset. A server that closes an idle connection while the request is
 * unread at its host resets it, and a busy server does so late: Node runs its timers before it reads.
 */
const IDLE_CLOSING_NS = 1e9; // 1 s

/**
 * Whether a kept connection that ends now, before any byte of the response, was already closing when its request arrived.
 * @param sendStartNs start of sending the request @param servedNs end of the previous response @param isOrderly false for a reset
 */
export function wasClosing(sendStartNs: number, servedNs: number, isOrderly: boolean): boolean {
  const passedNs = nowNs() - sendStartNs;
  if (sendStartNs - servedNs >= CLOSED_AFTER_RESPONSE_NS) return passedNs <= IDLE_CLOSING_NS;
  return isOrderly && passedNs <= CLOSING_NS;
}

/** Knowledge about connection reuse from all connections to a server, including those for queries. */
export interface ServerReuse {
  /** Whether any connection has carried a request after a complete response. */
  isProven: boolean;
  /** The same after a stream. */
  isProvenForStreams: boolean;
  /** An open connection, and the end of its first complete response. */
  open: { readonly slot: ConnectionReuse; readonly sinceNs: number } | undefined;
}

/** Returns the state before the first connection. */
export function createServerReuse(): ServerReuse {
  return { isProven: false, isProvenForStreams: false, open: undefined };
}

/**
 * Decides whether a slot may send a second request on its connection at once. Some servers (llama.cpp's, after a stream) close the
 * connection without `Connection: close`, just when the next request leaves, and never read it. Therefore, until a connection of the
 * slot has been reused, its second request waits for a possible close. Another connection that stays open for that time proves the
 * same. A lost connection makes only its own slot wait, once.
 */
export class ConnectionReuse {
  private readonly server: ServerReuse;
  /** Whether this slot's connections are reusable; undefined while unknown. */
  private keeps: boolean | undefined;

  constructor(server: ServerReuse) {
    this.server = server;
  }

  /**
   * Returns the remaining wait before the second request, in nanoseconds; 0 or less: none.
   * @param endedNs end of the first response
   * @param isStream whether the first response was a stream
   */
  waitNs(endedNs: number, isStream: boolean, atNs: number): number {
    if (this.keeps ?? this.isShown(isStream, atNs)) return 0;
    const firstNs = isStream ? CLOSE_FOLLOWS_STREAM_NS : CLOSE_FOLLOWS_NS;
    return endedNs + (this.keeps === false ? CLOSE_FOLLOWS_AGAIN_NS : firstNs) - atNs;
  }

  /** Records the end of a connection's first response. */
  answered(endNs: number, isStream: boolean): void {
    if (!isStream) this.server.open ??= { slot: this, sinceNs: endNs };
  }

  /** Records that a connection of the slot has carried a second response. @param isStream whether the responses were streams */
  prove(isStream: boolean): void {
    this.keeps = true;
    if (isStream) this.server.isProvenForStreams = true;
    else this.server.isProven = true;
  }

  /** Records that the slot's connection is closed. */
  closed(): void {
    if (this.server.open?.slot === this) this.server.open = undefined;
  }

  /** Records that a connection was closed without notice after its first response. @param endedNs end of that response */
  refute(endedNs: number, atNs: number): void {
    if (atNs - endedNs < CLOSED_AFTER_RESPONSE_NS) this.keeps = false;
  }

  private isShown(isStream: boolean, atNs: number): boolean {
    const { isProven, isProvenForStreams, open } = this.server;
    if (isStream) return isProvenForStreams;
    return isProven || (open !== undefined && atNs - open.sinceNs >= CLOSE_FOLLOWS_NS);
  }
}
