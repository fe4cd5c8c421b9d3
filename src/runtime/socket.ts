import type { TlsSettings } from "./tls.ts";

/** The address of a server. */
export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  /** Source address and port of the connection. Absent: the system's choice. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** Absent: plain TCP. */
  readonly tls?: TlsSettings | undefined;
  /** Opens the connection instead of the runtime, without a network. */
  readonly open?: OpenSocket | undefined;
}

/** Returns a connection's source address and port as an option of the runtimes' functions; absent parts are left out. */
export function localOf({ localAddress, localPort }: SocketTarget): { localAddress?: string; localPort?: number } {
  return {
    ...(localAddress === undefined ? {} : { localAddress }),
    ...(localPort === undefined ? {} : { localPort }),
  };
}

/** Callbacks of a socket. `onClose` is called exactly once, also if connecting failed; `onOpen` at most once, before it. */
export interface SocketHandlers {
  onOpen(): void;
  /** Received bytes, valid only during the call. */
  onData(bytes: Uint8Array): void;
  /**
   * The connection has ended. `error` is absent if the peer closed it in an orderly way or `close` was called. If `isUnanswered`
   * returned true, {@link isRefusedAfterClose} tells whether the peer rejected the written bytes.
   */
  onClose(error: Error | undefined): void;
  /**
   * Called when the peer has closed its side of a plain connection. Returns whether written bytes have had no response. If so, the
   * connection stays half open for up to {@link REFUSAL_WAIT_MS}, to find out whether the peer's host rejects them. Default: false.
   */
  isUnanswered?(): boolean;
  /** The kernel has accepted the rest of a write that it did not accept at once. Default: no effect. */
  onDrained?(): void;
}

/** Maximum wait for a rejection, in milliseconds, on runtimes that report it without another write. */
export const REFUSAL_WAIT_MS = 250;

/** Wait before the write that makes other runtimes report a rejection, in milliseconds. */
export const REFUSAL_PROBE_MS = 50;

/**
 * Whether a connection ended because its peer had closed it and rejected later bytes, which means that no program has read
 * them.
 */
export function isRefusedAfterClose(error: Error | undefined): boolean {
  return (error as { code?: string } | undefined)?.code === "EPIPE";
}

/** An open or connecting socket. */
export interface Socket {
  /**
   * Queues bytes in order. Returns true if the caller may reuse the buffer at once. Returns false if the runtime still refers to it; the
   * caller must then leave the buffer unchanged until its request is complete.
   */
  write(bytes: Uint8Array): boolean;
  /** Closes the connection; `onClose` follows. Later writes are dropped. */
  close(): void;
  /** Number of queued bytes that the kernel has not accepted. */
  readonly pendingBytes: number;
}

/** Opens a connection. Returns at once; the handlers report events. */
export type OpenSocket = (target: SocketTarget, handlers: SocketHandlers) => Socket;
