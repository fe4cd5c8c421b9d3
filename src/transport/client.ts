import type { AnswerHead, CreateAnswerCheck } from "./answer-check.ts";
import type { Failure } from "./failure.ts";
import type { Header, WireRequest } from "./request.ts";

/**
 * The clients of the measured path. A client has slots; a slot carries one request at a time and owns one {@link Call}, which is
 * reused: nothing is allocated per request.
 */

/** One response of a request that may have several. */
export interface ReceivedResponse {
  /** When the socket read that completed it began to be handled. */
  readonly readNs: number;
  readonly body: Uint8Array;
  /** It only says that no more will come. */
  readonly isEmpty: boolean;
}

/** The state of a slot's current or last request. Times are {@link nowNs} nanoseconds. */
export class Call implements AnswerHead {
  readonly slot: number;
  /** Which of several servers it is for, counted from 0. */
  server = 0;
  /** When sending began: right before the first byte was handed to the socket, or the connection was asked for. */
  sendStartNs = 0;
  /** When all bytes had been handed to the socket. */
  sendEndNs = 0;
  /** When the socket read that held the response's first byte began to be handled; on a stream, that completed the first response. */
  firstByteNs = 0;
  /** When the socket read that completed the response began to be handled; of several the last one that is not empty. */
  endNs = 0;
  /** When the last message of several was read, an empty one included; 0 where there is one response per request. */
  lastMessageNs = 0;
  /** Responses with content; always 1 where the protocol has one per request. */
  responseCount = 1;
  /** Messages received for the request, an empty last one included. */
  messageCount = 1;
  /** Bytes of the responses so far, where a stream carries them. */
  responseBytes = 0;
  /** The responses one by one, where a stream carries them and bodies are kept. They are the reader's to keep. */
  responses: ReceivedResponse[] = [];
  /** Time spent reading the response's bytes apart, in nanoseconds, where a client measures it. */
  decodeNs = 0;
  /** Set when the request failed. */
  failure: Failure | undefined = undefined;
  /** The response's payload; only kept when the client was told to, and for failures. The reader's to keep. */
  body: Uint8Array | undefined = undefined;
  /** Length of the response's leading JSON part (`Inference-Header-Content-Length`); 0 when the response did not say. */
  jsonBytes = 0;
  /** Whether the response's content type is JSON; false where the protocol has none. */
  isJson = false;
  /** Whether the client had the response looked at, as {@link ClientOptions.createCheck} asks. */
  isChecked = false;
  /** True between `send` and `onDone`. */
  isActive = false;
  /** True while bytes of the request have still to be handed to the socket, where a client knows; `onSent` follows. */
  isSending = false;

  constructor(slot: number) {
    this.slot = slot;
  }

  /** Takes what came of another slot's request, its bodies included, before that slot is used again. */
  takeOver(from: Call): void {
    this.server = from.server;
    this.sendStartNs = from.sendStartNs;
    this.sendEndNs = from.sendEndNs;
    this.firstByteNs = from.firstByteNs;
    this.endNs = from.endNs;
    this.lastMessageNs = from.lastMessageNs;
    this.responseCount = from.responseCount;
    this.messageCount = from.messageCount;
    this.responses = from.responses;
    from.responses = [];
    this.decodeNs = from.decodeNs;
    this.failure = from.failure;
    this.body = from.body;
    this.jsonBytes = from.jsonBytes;
    this.isJson = from.isJson;
    this.isChecked = from.isChecked;
  }
}

/** Called by a client when a slot's request is over, for good or bad. The slot may be used again from inside the call. */
export type OnDone = (call: Call) => void;

/** Settings all clients share. */
export interface ClientOptions {
  /** Keep response payloads for `onDone` (exports, validation, traces). Costs a copy per response. May change until the first request. */
  readonly keepBodies: boolean;
  /**
   * Makes a check of answers whose bodies are not kept, one check for each slot; an answer that it refuses is a failure. Absent: answers are
   * not checked here, for example because kept bodies are checked later. May appear until the first request.
   */
  readonly createCheck?: CreateAnswerCheck | undefined;
  /** A request whose connection brings no byte for so long has failed. In nanoseconds. */
  readonly stallTimeoutNs: number;
  /**
   * A response of more bytes has failed: its body, or all messages that answer one request, decompressed. It is not read to its end, and no
   * more than this is held of it.
   */
  readonly maxResponseBytes: number;
  /**
   * Slots are dealt to lanes in turn: slot `s` belongs to lane `s % laneCount`. A lane is what perf_analyzer calls a worker thread;
   * lanes share gRPC connections and own gRPC streams.
   */
  readonly laneCount: number;
  readonly onDone: OnDone;
  /** Told when a request is sent whose call was `isSending` when `send` returned. */
  readonly onSent?: ((call: Call) => void) | undefined;
  /** Told of each response of a request that has others to follow. */
  readonly onResponse?: ((call: Call) => void) | undefined;
  /** gRPC only: given the headers of each response, and then its trailers, before `onDone`. For tests and traces; it costs time with grpc-js. */
  readonly onMetadata?: ((call: Call, headers: readonly Header[], isTrailers: boolean) => void) | undefined;
  /** Told of heads of requests and responses as text, `>` for sent and `<` for received; for traces only, it costs time. */
  readonly onWire?: ((direction: ">" | "<", head: string) => void) | undefined;
}

/** A client that sends encoded requests over slots. */
export interface LoadClient {
  /** The calls by slot; grows with `reserve`. */
  readonly calls: readonly Call[];
  /** Makes slots `0 … count-1` usable; connections are opened ahead of the first request. Resolves also when connecting failed. */
  reserve(count: number): Promise<void>;
  /**
   * Sends a request on a free slot. Never throws for network reasons: failures arrive through `onDone`, never before `send` returns.
   * @param stamp bytes to write at the request's stamp place
   */
  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void;
  /** Hands bytes collected by `send` to the sockets. Call once after a group of sends. */
  flush(): void;
  /**
   * Gives up the slot's request, which fails with `failure` before the call returns, and tells the server: the connection is closed, or
   * the gRPC stream reset. A stream that carries other slots' requests too stays open. Nothing happens to a slot without a request. Not
   * to be called from inside `onDone`.
   */
  cancel(slot: number, failure: Failure): void;
  /** Fails active calls with `aborted` and closes all connections. */
  close(): void;
  /** Connections opened so far, the re-opened ones included. */
  readonly connectionCount: number;
  /**
   * Times that a request was sent again so far, which is only done where the server cannot have processed it. A library that repeats requests
   * by itself does not report it.
   */
  readonly resendCount: number;
  /** What each server was sent; absent where there is one. */
  readonly servers?: readonly ServerLoad[] | undefined;
  /** Counts a request's failure for its server, and gives it with the server's name; absent where there is one server. */
  attribute?(call: Call, failure: Failure): Failure;
}

/** The part of a load that one of several servers had. */
export interface ServerLoad {
  /** Host and port, as the user wrote them. */
  readonly name: string;
  readonly sentCount: number;
  /** Requests that failed, without those that were given up. */
  readonly failedCount: number;
}
