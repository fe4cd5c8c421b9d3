import type { Failure } from "../failure.ts";
import type { Header } from "../request.ts";

/** Reason why a stream ended without its last frame. */
export interface StreamFailure {
  readonly failure: Failure;
  /** True when the server certainly did not process the stream, so that resending is safe. */
  readonly isUnprocessed: boolean;
}

/** Receives the events of one stream. */
export interface StreamSink {
  /** A complete header list. Repeated lists are the same array object. */
  onHeaders(headers: readonly Header[], isLast: boolean): void;
  /** Payload bytes `bytes[start, end)`, valid during the call. */
  onData(bytes: Uint8Array, start: number, end: number, isLast: boolean): void;
  onFailed(problem: StreamFailure): void;
}

/** Called when the bytes have been passed to the socket. */
export interface SendTicket {
  onSent(sentNs: number): void;
}

/** Data that waits for a flow-control window. */
export interface PendingData {
  readonly bytes: Uint8Array;
  offset: number;
  readonly isLast: boolean;
  readonly ticket: SendTicket | undefined;
}

/**
 * The state of one stream of a connection. A sink reuses it for each call, after the previous stream has ended, so that a call allocates
 * nothing.
 */
export class Stream {
  id = 0;
  readonly sink: StreamSink;
  sendWindow = 0;
  receivedBytes = 0;
  pending: PendingData[] | undefined = undefined;
  isSendingDone = false;

  constructor(sink: StreamSink) {
    this.sink = sink;
  }

  open(id: number, sendWindow: number): void {
    this.id = id;
    this.sendWindow = sendWindow;
    this.receivedBytes = 0;
    this.pending = undefined;
    this.isSendingDone = false;
  }
}
