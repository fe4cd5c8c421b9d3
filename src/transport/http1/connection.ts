import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import type { OpenSocket, Socket } from "../../runtime/socket.ts";
import type { Call, ClientOptions } from "../client.ts";
import {
  describeConnectError,
  type Failure,
  isTlsError,
  messageOfProtocol,
  ProtocolError,
  statusFailure,
} from "../failure.ts";
import type { Endpoint } from "../request.ts";
import { expectResponses } from "../streamed-responses.ts";
import type { Http1Message } from "./encode.ts";
import { EventSplitter } from "./event-splitter.ts";
import { ResponseParser, type ResponseSink } from "./parser.ts";

const MAX_ERROR_BODY_BYTES = 64 * 1024; // 64 KiB of an error's text are enough to explain it

/** What the connections of a client have learnt of their server. */
export interface ServerHabits {
  /** It closes a connection that carried a stream of events, although it did not say so. */
  closesAfterStreams: boolean;
}

/** A slot's keep-alive connection, which carries one request at a time and is made again when it was lost. */
export class Connection implements ResponseSink {
  /** Connections opened so far. */
  openedCount = 0;
  private readonly call: Call;
  private readonly endpoint: Endpoint;
  private readonly options: ClientOptions;
  private readonly habits: ServerHabits;
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
  /** Set while the response is a stream of events, each of which is a response of its own. */
  private events: EventSplitter | undefined;
  /** Whether the latest response on the present connection was such a stream. */
  private hasStreamed = false;
  /** The present request's bytes. */
  private sent: Uint8Array = new Uint8Array(0);

  private readonly open: OpenSocket;

  constructor(call: Call, endpoint: Endpoint, options: ClientOptions, habits: ServerHabits, open: OpenSocket) {
    this.habits = habits;
    this.open = open;
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
    if (call.lastMessageNs !== 0 || call.responseCount !== 1) expectOneResponse(call);
    const bytes = stamp === undefined || message.stampOffset < 0 ? message.bytes : this.withStamp(message, stamp);
    this.sent = bytes;
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
      call.isSending = true;
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

  /** Closes the connection; the request it carries, if any, fails. */
  abort(failure: Failure): void {
    this.drop();
    this.finish(failure);
  }

  onHead(parser: ResponseParser): boolean {
    if (this.isComplete) throw new ProtocolError("a second response to one request");
    this.options.onWire?.("<", parser.head);
    this.events = undefined;
    if (parser.isEventStream && parser.status < 300) {
      expectResponses(this.call);
      this.events = new EventSplitter((event) => this.receivedEvent(event));
      return true;
    }
    return this.options.keepBodies || parser.status >= 400;
  }

  onBody(bytes: Uint8Array, start: number, end: number): void {
    if (this.events !== undefined) {
      this.events.feed(bytes, start, end);
      return;
    }
    if (!this.options.keepBodies && this.bodyBytes > MAX_ERROR_BODY_BYTES) return;
    this.bodyPieces.push(bytes.slice(start, end));
    this.bodyBytes += end - start;
  }

  onComplete(): void {
    this.events?.end();
    this.isComplete = true;
  }

  /** All events of one read have its time: nobody can tell when they came otherwise. */
  private receivedEvent(event: Uint8Array): void {
    const { call, readNs } = this;
    call.messageCount++;
    call.responseCount++;
    call.lastMessageNs = readNs;
    if (this.options.keepBodies) call.responses.push({ readNs, body: event, isEmpty: false });
    this.options.onResponse?.(call);
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
    this.hasStreamed = false;
    this.clearBody();
    this.openedCount++;
    this.lastActivityNs = nowNs();
    const socket: Socket = this.open(this.endpoint, {
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
    if (!this.call.isSending) return;
    this.call.isSending = false;
    this.options.onSent?.(this.call);
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
    this.hasStreamed = this.events !== undefined;
    const isOver = this.hasStreamed && this.habits.closesAfterStreams;
    if (!parser.keepAlive || overtaken || extra || isOver) this.drop();
    if (extra) {
      this.finish({ kind: "protocol", message: "bytes after the end of the response" });
    } else if (parser.status >= 300) {
      this.finish(statusFailure(parser.status, parser.location));
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
      if (this.hasStreamed) {
        this.sendAnew();
        return;
      }
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

  /**
   * Some servers (llama.cpp's) close a connection after a stream without a word, at the same moment as the next request is sent on it, and
   * never see that request. It is sent again on a new connection, as every HTTP client does, and from now on none follows a stream.
   */
  private sendAnew(): void {
    this.habits.closesAfterStreams = true;
    this.waiting = this.sent;
    this.connect();
  }

  /** The response lasted until the connection closed. */
  private respondedByClose(): void {
    const call = this.call;
    this.isComplete = false;
    call.endNs = this.readNs;
    call.jsonBytes = this.parser.jsonBytes;
    if (this.bodyPieces.length > 0) call.body = this.takeBody();
    if (this.parser.status >= 300) {
      this.finish(statusFailure(this.parser.status, this.parser.location));
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
    call.isSending = false;
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

function expectOneResponse(call: Call): void {
  expectResponses(call);
  call.responseCount = 1;
  call.messageCount = 1;
}

function describeClose(error: Error | undefined, when: string): string {
  return error === undefined ? `server closed the connection ${when}` : `${describeConnectError(error)} ${when}`;
}

/** A request's head as text. */
function headOf(message: Uint8Array): string {
  const text = new TextDecoder("latin1").decode(message);
  return text.slice(0, text.indexOf("\r\n\r\n") + 4);
}
