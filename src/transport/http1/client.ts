import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import type { Socket } from "../../runtime/socket.ts";
import { openSocket } from "../../runtime/sockets.ts";
import { Call, type ClientOptions, type LoadClient } from "../client.ts";
import { describeConnectError, type Failure, isTlsError, messageOfProtocol, ProtocolError } from "../failure.ts";
import type { Endpoint, WireRequest } from "../request.ts";
import { StallWatch } from "../stall-watch.ts";
import { encodeHttp1, type Http1Message } from "./encode.ts";
import { ResponseParser, type ResponseSink } from "./parser.ts";

const MAX_ERROR_BODY_BYTES = 64 * 1024; // 64 KiB of an error's text are enough to explain it

/** The HTTP/1.1 client of the measured path: one keep-alive connection per slot, no pipelining. */
export class Http1Client implements LoadClient {
  readonly calls: Call[] = [];
  connectionCount = 0;
  private readonly endpoint: Endpoint;
  private readonly options: ClientOptions;
  private readonly connections: Connection[] = [];
  private readonly encoded = new Map<WireRequest, Http1Message>();
  private readonly stallWatch: StallWatch;
  private isClosed = false;

  constructor(endpoint: Endpoint, options: ClientOptions) {
    this.endpoint = endpoint;
    this.options = options;
    this.stallWatch = new StallWatch(options.stallTimeoutNs, (deadlineNs) => {
      for (const connection of this.connections) connection.failIfSilentSince(deadlineNs);
    });
  }

  async reserve(count: number): Promise<void> {
    const opening: Promise<void>[] = [];
    while (this.connections.length < count) {
      const call = new Call(this.connections.length);
      const connection = new Connection(this, call, this.endpoint, this.options);
      this.calls.push(call);
      this.connections.push(connection);
      opening.push(connection.preconnect());
    }
    this.stallWatch.start();
    await Promise.all(opening);
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    let message = this.encoded.get(request);
    if (message === undefined) {
      message = encodeHttp1(request, this.endpoint);
      this.encoded.set(request, message);
    }
    (this.connections[slot] as Connection).send(message, stamp);
  }

  /** Every send is written at once: a connection carries one request, so there is nothing to gather. */
  flush(): void {}

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stallWatch.stop();
    for (const connection of this.connections) connection.abort();
  }
}

class Connection implements ResponseSink {
  private readonly client: Http1Client;
  private readonly call: Call;
  private readonly endpoint: Endpoint;
  private readonly options: ClientOptions;
  private parser = new ResponseParser(this);
  private socket: Socket | undefined;
  private isOpen = false;
  private waiting: Uint8Array | undefined;
  private onPreconnected: (() => void) | undefined;
  /** This slot's own copy of an encoding with a stamp, so that the shared one stays as it is while bytes are under way. */
  private scratch: Uint8Array = new Uint8Array(0);
  private lastActivityNs = 0;
  private readNs = 0;
  private bodyPieces: Uint8Array[] = [];
  private bodyBytes = 0;
  private isComplete = false;

  constructor(client: Http1Client, call: Call, endpoint: Endpoint, options: ClientOptions) {
    this.client = client;
    this.call = call;
    this.endpoint = endpoint;
    this.options = options;
  }

  preconnect(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onPreconnected = resolve;
    this.connect();
    return promise;
  }

  send(message: Http1Message, stamp: Uint8Array | undefined): void {
    const call = this.call;
    call.failure = undefined;
    call.body = undefined;
    call.isActive = true;
    const bytes = stamp === undefined || message.stampOffset < 0 ? message.bytes : this.withStamp(message, stamp);
    this.options.onWire?.(">", headOf(bytes));
    const startNs = nowNs();
    call.sendStartNs = startNs;
    call.firstByteNs = 0;
    this.lastActivityNs = startNs;
    if (this.isOpen) {
      (this.socket as Socket).write(bytes);
      call.sendEndNs = nowNs();
    } else {
      call.sendEndNs = startNs;
      this.waiting = bytes;
      if (this.socket === undefined) this.connect();
    }
  }

  failIfSilentSince(deadlineNs: number): void {
    if (this.lastActivityNs > deadlineNs) return;
    if (!this.call.isActive) {
      // A connection still being made ahead of its first request.
      if (this.onPreconnected !== undefined) this.drop();
      return;
    }
    this.drop();
    this.finish({ kind: "stalled", message: `no byte received for ${formatDurationNs(this.options.stallTimeoutNs)}` });
  }

  abort(): void {
    this.drop();
    if (this.call.isActive) this.finish({ kind: "aborted", message: "still in flight when the run ended" });
  }

  onHead(parser: ResponseParser): boolean {
    if (this.isComplete) throw new ProtocolError("a second response to one request");
    this.options.onWire?.("<", parser.head);
    return this.options.keepBodies || parser.status >= 400;
  }

  onBody(bytes: Uint8Array, start: number, end: number): void {
    if (!this.options.keepBodies && this.bodyBytes > MAX_ERROR_BODY_BYTES) return;
    this.bodyPieces.push(bytes.slice(start, end));
    this.bodyBytes += end - start;
  }

  onComplete(): void {
    this.isComplete = true;
  }

  private withStamp(message: Http1Message, stamp: Uint8Array): Uint8Array {
    if (this.scratch.length !== message.bytes.length) this.scratch = new Uint8Array(message.bytes.length);
    this.scratch.set(message.bytes);
    this.scratch.set(stamp, message.stampOffset);
    return this.scratch;
  }

  private connect(): void {
    this.parser = new ResponseParser(this);
    this.parser.keepsHead = this.options.onWire !== undefined;
    this.isComplete = false;
    this.clearBody();
    this.client.connectionCount++;
    this.lastActivityNs = nowNs();
    const socket: Socket = openSocket(this.endpoint, {
      onOpen: () => this.opened(socket),
      onData: (bytes) => this.received(bytes, socket),
      onClose: (error) => this.closed(error, socket),
    });
    this.socket = socket;
  }

  private opened(socket: Socket): void {
    if (socket !== this.socket) return;
    this.isOpen = true;
    this.lastActivityNs = nowNs();
    this.settlePreconnect();
    if (this.waiting === undefined) return;
    const bytes = this.waiting;
    this.waiting = undefined;
    socket.write(bytes);
    this.call.sendEndNs = nowNs();
  }

  private received(bytes: Uint8Array, socket: Socket): void {
    if (socket !== this.socket) return;
    const call = this.call;
    const readNs = nowNs();
    this.lastActivityNs = readNs;
    this.readNs = readNs;
    if (!call.isActive) {
      this.drop();
      return;
    }
    if (call.firstByteNs === 0) call.firstByteNs = readNs;
    try {
      this.parser.feed(bytes);
    } catch (error) {
      this.drop();
      this.finish({ kind: "protocol", message: messageOfProtocol(error) });
      return;
    }
    if (this.isComplete) this.responded(socket);
  }

  private responded(socket: Socket): void {
    const parser = this.parser;
    const call = this.call;
    this.isComplete = false;
    call.endNs = this.readNs;
    call.jsonBytes = parser.jsonBytes;
    if (this.bodyPieces.length > 0) call.body = this.takeBody();
    // A response that overtook its own request leaves the connection in an unknown state.
    const overtaken = socket.pendingBytes > 0;
    const extra = !parser.isBetweenResponses;
    if (!parser.keepAlive || overtaken || extra) this.drop();
    if (extra) {
      this.finish({ kind: "protocol", message: "bytes after the end of the response" });
    } else if (parser.status >= 400) {
      this.finish({ kind: "http", status: parser.status, message: `HTTP status ${parser.status}` });
    } else if (parser.status >= 300) {
      this.finish({ kind: "http", status: parser.status, message: `unexpected HTTP status ${parser.status}` });
    } else {
      call.isActive = false;
      this.options.onDone(call);
    }
  }

  private closed(error: Error | undefined, socket: Socket): void {
    if (socket !== this.socket) return;
    const wasOpen = this.isOpen;
    this.socket = undefined;
    this.isOpen = false;
    this.settlePreconnect();
    if (!this.call.isActive) return;
    if (wasOpen) this.closedWhileOpen(error);
    else {
      this.waiting = undefined;
      const kind = isTlsError(error) ? "tls" : "connect";
      this.finish({ kind, message: describeConnectError(error) });
    }
  }

  private closedWhileOpen(error: Error | undefined): void {
    this.readNs = nowNs();
    if (this.call.firstByteNs === 0) {
      this.finish({ kind: "closed", message: describeClose(error, "before any byte of the response") });
      return;
    }
    try {
      this.parser.end();
    } catch (problem) {
      this.finish({ kind: "closed", message: messageOfProtocol(problem) });
      return;
    }
    if (this.isComplete) this.respondedByClose();
    else this.finish({ kind: "closed", message: describeClose(error, "within the response") });
  }

  /** The response lasted until the connection closed. */
  private respondedByClose(): void {
    const call = this.call;
    this.isComplete = false;
    call.endNs = this.readNs;
    call.jsonBytes = this.parser.jsonBytes;
    if (this.bodyPieces.length > 0) call.body = this.takeBody();
    if (this.parser.status >= 300) {
      this.finish({ kind: "http", status: this.parser.status, message: `HTTP status ${this.parser.status}` });
      return;
    }
    call.isActive = false;
    this.options.onDone(call);
  }

  private finish(failure: Failure): void {
    const call = this.call;
    if (!call.isActive) return;
    if (failure.kind !== "http") call.endNs = nowNs();
    if (call.firstByteNs === 0) call.firstByteNs = call.endNs;
    call.failure = failure;
    call.isActive = false;
    this.clearBody();
    this.options.onDone(call);
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = undefined;
    this.isOpen = false;
    this.waiting = undefined;
    this.settlePreconnect();
    socket?.close();
  }

  private settlePreconnect(): void {
    const settle = this.onPreconnected;
    this.onPreconnected = undefined;
    settle?.();
  }

  private takeBody(): Uint8Array {
    const pieces = this.bodyPieces;
    const body = new Uint8Array(this.bodyBytes);
    let offset = 0;
    for (const piece of pieces) {
      body.set(piece, offset);
      offset += piece.length;
    }
    this.clearBody();
    return body;
  }

  private clearBody(): void {
    if (this.bodyBytes === 0) return;
    this.bodyPieces = [];
    this.bodyBytes = 0;
  }
}

function describeClose(error: Error | undefined, when: string): string {
  return error === undefined ? `server closed the connection ${when}` : `${describeConnectError(error)} ${when}`;
}

/** A request's head as text. */
function headOf(message: Uint8Array): string {
  const text = new TextDecoder("latin1").decode(message);
  return text.slice(0, text.indexOf("\r\n\r\n") + 4);
}
