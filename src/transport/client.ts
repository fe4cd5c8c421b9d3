import type { Call, OnDone } from "./call.ts";
import type { Failure } from "./failure.ts";
import type { Header, WireRequest } from "./request.ts";
import type { CreateResponseCheck } from "./response-check.ts";

/** Parts of responses that are needed. May change before the first request; a client reads it for each request. */
export interface ResponseNeeds {
  /** Keep response payloads for `onDone` (exports, validation, traces). Costs a copy per response. */
  keepBodies: boolean;
  /** Keep the headers of responses for `onDone`. HTTP only. Default: false. */
  keepHeaders?: boolean | undefined;
  /**
   * Creates the check of each slot, for responses whose bodies are not kept. A response that it rejects is a failure. Absent: responses are
   * not checked here.
   */
  createCheck?: CreateResponseCheck | undefined;
}

/**
 * The lanes of a client. Slot `s` belongs to lane `s % laneCount`. A lane is what perf_analyzer calls a worker thread: lanes share
 * gRPC connections, and each has its own gRPC stream. The number may change before the first request.
 */
export interface Lanes {
  laneCount: number;
}

/** Settings that all clients share. */
export interface ClientOptions {
  readonly responses: ResponseNeeds;
  readonly lanes: Readonly<Lanes>;
  /** A request fails when its connection receives no byte for this time, in nanoseconds. */
  readonly stallTimeoutNs: number;
  /**
   * A request fails when its response has more bytes: its body, or all its messages together, decompressed. The client then stops reading,
   * and never keeps more than this.
   */
  readonly maxResponseBytes: number;
  /**
   * Maximum number of connections per second that are opened ahead of their requests. Default: the rate of a single client. Rampart's
   * own clients only.
   */
  readonly connectionsPerSec?: number | undefined;
  readonly onDone: OnDone;
  /** Called when a request has been sent that was still `isSending` when `send` returned. */
  readonly onSent?: ((call: Call) => void) | undefined;
  /** Called when a connection could not be opened ahead of its first request. Rampart's own HTTP/1.1 client only. */
  readonly onConnectFailure?: ((failure: Failure) => void) | undefined;
  /**
   * Called for each response of a request except the last. If only the end of the response shows which one was the last, it is called for
   * every one. A gRPC call may be cancelled here.
   */
  readonly onResponse?: ((call: Call) => void) | undefined;
  /**
   * gRPC only: called with the headers of each response, then with its trailers, before `onDone`. For tests and traces; slow with grpc-js.
   */
  readonly onMetadata?: ((call: Call, headers: readonly Header[], isTrailers: boolean) => void) | undefined;
  /** Called with the heads of requests (`>`) and responses (`<`) as text. For traces only; slow. */
  readonly onWire?: ((direction: ">" | "<", head: string) => void) | undefined;
  /** HTTP only: called with each request before it is sent, and with its stamp. For traces only. */
  readonly onRequest?: ((request: WireRequest, stamp: Uint8Array | undefined) => void) | undefined;
}

/** Counts of what an HTTP client has received over its connections. */
export interface ReceivedCounts {
  /** Bytes of responses as received: heads, and compressed bodies. */
  bytes: number;
  /** Number of complete responses by status. */
  readonly statusCounts: Uint32Array;
  /** Number of connections that were dropped because bytes arrived while no request waited for a response. */
  unaskedCount: number;
}

/** Highest status that {@link ReceivedCounts} counts: HTTP statuses have three digits. */
export const MOST_STATUS = 999;

/** Creates clients of one kind for one server. */
export type CreateClient = (options: ClientOptions) => LoadClient;

/** Requests of a load that a client sends when other clients send the rest: numbers `first`, `first + stride`, and so on. */
export interface OwnedTurns {
  readonly first: number;
  readonly stride: number;
  /**
   * Whether requests have due times, so that all clients together take turns among the servers. In other loads, each client takes turns
   * among all servers: a client that always used the same servers would not wait for the others.
   */
  readonly isScheduled: boolean;
}

/** A client of the measured path. It has slots; each carries one request at a time. */
export interface LoadClient {
  /** The calls by slot; grows with `reserve`. */
  readonly calls: readonly Call[];
  /** Makes slots `0 … count-1` usable and opens their connections. Resolves also when connecting fails. */
  reserve(count: number): Promise<void>;
  /**
   * Sends a request on a free slot. Never throws for network reasons: failures arrive through `onDone`, after `send` has returned.
   * @param stamp bytes to write at the request's stamp place
   */
  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void;
  /** Restarts the turns among several servers, for the requests that follow. Absent: one server. */
  ownPart?(turns: OwnedTurns): void;
  /** Writes the bytes collected by `send` to the sockets. Call once after a group of sends. */
  flush(): void;
  /**
   * Cancels the slot's request, which fails with `failure` before the call returns. Closes the connection or resets the gRPC stream; a
   * stream that carries requests of other slots stays open. Does nothing for an idle slot. Must not be called inside `onDone`.
   */
  cancel(slot: number, failure: Failure): void;
  /** Fails active calls with `aborted` and closes all connections. */
  close(): void;
  /** Number of connections opened so far, including reconnections. */
  readonly connectionCount: number;
  /**
   * Number of requests that were sent again: because the server cannot have processed them, or because it closed their kept HTTP/1.1
   * connection right after the send. Libraries that retry internally do not report it.
   */
  readonly resendCount: number;
  /** Absent when the client does not count what it receives. */
  readonly received?: ReceivedCounts | undefined;
  /** Counts by server; absent when there is one server. */
  readonly servers?: readonly ServerLoad[] | undefined;
  /** Counts a failure for its server and returns it with the server's name; absent when there is one server. */
  attribute?(call: Call, failure: Failure): Failure;
}

/** Counts of one of several servers. */
export interface ServerLoad {
  /** Host and port, as the user wrote them. */
  readonly name: string;
  readonly sentCount: number;
  /** Failed requests, without cancelled ones. */
  readonly failedCount: number;
}
