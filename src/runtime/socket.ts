/** A byte stream to a server, the same on every runtime: what the transports are written against. */

/** TLS settings of a connection. Files are read by the caller; contents are PEM text. */
export interface TlsSettings {
  /** Name sent in SNI and checked against the certificate; default: the host connected to. */
  readonly serverName?: string | undefined;
  /** Protocols offered by ALPN, in order of preference. */
  readonly alpn: readonly string[];
  /** PEM of the authorities to trust instead of the system's. */
  readonly caPem?: string | undefined;
  /** PEM of the client certificate chain. */
  readonly certPem?: string | undefined;
  /** PEM of the client's private key. */
  readonly keyPem?: string | undefined;
  /** False accepts a certificate whoever signed it. */
  readonly verifyPeer: boolean;
  /** False accepts a certificate whatever name is in it. */
  readonly verifyHost: boolean;
}

/** Where to connect to. */
export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  /** Absent: plain TCP. */
  readonly tls?: TlsSettings | undefined;
}

/** Callbacks of a socket. `onClose` is called exactly once, also when connecting failed; `onOpen` at most once, before it. */
export interface SocketHandlers {
  onOpen(): void;
  /** Bytes that arrived; valid only during the call unless the callee copies them. */
  onData(bytes: Uint8Array): void;
  /**
   * The stream ended. `error` is absent when the peer closed in an orderly way or `close` was called; {@link isRefusedAfterClose} tells
   * whether the peer refused what was written, if `isUnanswered` returned true.
   */
  onClose(error: Error | undefined): void;
  /**
   * Asked when the peer has closed its side of a plain connection: whether bytes were written to which nothing was answered. Then the
   * connection stays half open for {@link REFUSAL_WAIT_MS} at most, to learn whether the peer's host refused them. Default: no.
   */
  isUnanswered?(): boolean;
}

/** Milliseconds that a refusal is waited for at most, on runtimes that report it by themselves. */
export const REFUSAL_WAIT_MS = 250;

/** Milliseconds after which a runtime that reports a refusal only to the next write makes one. A second write would be refused because of the first. */
export const REFUSAL_PROBE_MS = 50;

/** Whether a connection ended because its peer, which had closed it already, refused what was written to it: no program has read that. */
export function isRefusedAfterClose(error: Error | undefined): boolean {
  return (error as { code?: string } | undefined)?.code === "EPIPE";
}

/** An open or opening connection. */
export interface Socket {
  /**
   * Queues bytes in order. Returns true when the bytes were taken over (the caller may reuse the buffer at once), false when the
   * runtime still refers to them: then the caller must leave the buffer unchanged until the request it belongs to is over.
   */
  write(bytes: Uint8Array): boolean;
  /** Ends the connection; `onClose` follows. Further writes are dropped. */
  close(): void;
  /** Bytes queued that the kernel has not taken yet. */
  readonly pendingBytes: number;
}

/** Opens a connection and returns at once; what happens is told through the handlers. */
export type OpenSocket = (target: SocketTarget, handlers: SocketHandlers) => Socket;
