import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { isRefusedAfterClose, type OpenSocket, type Socket } from "../../runtime/socket.ts";
import { unreadable } from "../answer-check.ts";
import type { Call, ClientOptions } from "../client.ts";
import { connectFailure, describeClose } from "../connect-failure.ts";
import { type Failure, failureOfReading, statusFailure } from "../failure.ts";
import type { Endpoint } from "../request.ts";
import { StampScratch } from "../stamp-scratch.ts";
import { expectResponses } from "../streamed-responses.ts";
import { type Http1Message, headOf } from "./encode.ts";
import { ResponseParser } from "./parser.ts";
import { ReceivedResponse } from "./received-response.ts";
import { ReuseTrust, type ServerReuse } from "./reuse-trust.ts";

const MAX_RESENDS = 2;

/** What the connections of a client have in common. */
export interface ConnectionContext {
  readonly endpoint: Endpoint;
  readonly options: ClientOptions;
  readonly reuse: ServerReuse;
  readonly open: OpenSocket;
}

/** A slot's keep-alive connection, which carries one request at a time and is made again when it was lost. */
export class Connection {
  /** Connections opened so far. */
  openedCount = 0;
  /** Requests sent again so far, each time counted. */
  resendCount = 0;
  private readonly call: Call;
  private readonly context: ConnectionContext;
  private readonly options: ClientOptions;
  private readonly trust: ReuseTrust;
  private parser: ResponseParser;
  private socket: Socket | undefined;
  private isOpen = false;
  private waiting: Uint8Array | undefined;
  private onPreconnected: (() => void) | undefined;
  private readonly scratch = new StampScratch();
  private lastActivityNs = 0;
  private readonly response: ReceivedResponse;
  /** Responses that the present connection has carried. */
  private servedCount = 0;
  /** When the latest of them ended. */
  private servedNs = 0;
  /** Runs while a request waits to see whether the server closes the connection. */
  private holdTimer: ReturnType<typeof setTimeout> | undefined;
  /** The present request's bytes. */
  private sent: Uint8Array = new Uint8Array(0);
  /** How often the present request was sent again. */
  private resends = 0;

  constructor(call: Call, context: ConnectionContext) {
    const { options, reuse } = context;
    this.trust = new ReuseTrust(reuse);
    this.call = call;
    this.context = context;
    this.options = options;
    this.response = new ReceivedResponse(call, options);
    this.parser = new ResponseParser(this.response);
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
    const bytes = stamp === undefined || message.stampOffset < 0 ? message.bytes : this.scratch.fill(message, stamp);
    this.sent = bytes;
    this.resends = 0;
    this.options.onWire?.(">", headOf(bytes));
    const startNs = nowNs();
    call.sendStartNs = startNs;
    call.firstByteNs = 0;
    this.lastActivityNs = startNs;
    const isSecond = this.isOpen && this.servedCount === 1;
    const holdNs = isSecond ? this.trust.waitNs(this.servedNs, this.response.isStream, startNs) : 0;
    if (this.isOpen && holdNs <= 0) {
      (this.socket as Socket).write(bytes);
      call.sendEndNs = nowNs();
    } else {
      call.sendEndNs = startNs;
      call.isSending = true;
      this.waiting = bytes;
      if (this.socket === undefined) this.connect();
      else if (holdNs > 0) this.hold(this.socket, holdNs);
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

  private connect(): void {
    const { endpoint, open } = this.context;
    this.parser = new ResponseParser(this.response);
    this.parser.keepsHead = this.options.onWire !== undefined;
    this.parser.maxBodyBytes = this.options.maxResponseBytes;
    this.response.reset();
    this.servedCount = 0;
    this.openedCount++;
    this.lastActivityNs = nowNs();
    const socket: Socket = open(endpoint, {
      onOpen: () => this.opened(socket),
      onData: (bytes) => this.received(bytes, socket),
      isUnanswered: () => socket === this.socket && this.isUnanswered(),
      onClose: (error) => this.closed(error, socket),
    });
    this.socket = socket;
  }

  private opened(socket: Socket): void {
    if (socket !== this.socket) return;
    this.isOpen = true;
    this.lastActivityNs = nowNs();
    this.settlePreconnect();
    this.writeWaiting(socket);
  }

  private writeWaiting(socket: Socket): void {
    const { call, waiting } = this;
    if (waiting === undefined) return;
    this.waiting = undefined;
    socket.write(waiting);
    call.sendEndNs = nowNs();
    if (!call.isSending) return;
    call.isSending = false;
    this.options.onSent?.(call);
  }

  /** The request waits to see whether the server closes the connection, and leaves when it has not. */
  private hold(socket: Socket, holdNs: number): void {
    const release = (): void => {
      if (socket !== this.socket || this.waiting === undefined) return;
      this.startAnew();
      this.writeWaiting(socket);
    };
    // One turn of the event loop later: a close that has come meanwhile is read first.
    this.holdTimer = setTimeout(() => setImmediate(release), holdNs / 1e6);
  }

  /** The request, of which nothing has been written, begins now: what it waited for was this client's caution. */
  private startAnew(): void {
    this.call.sendStartNs = nowNs();
    this.lastActivityNs = this.call.sendStartNs;
  }

  /** The request that waits goes over a new connection. */
  private moveWaiting(): void {
    const { waiting } = this;
    this.drop();
    this.waiting = waiting;
    this.startAnew();
    this.connect();
  }

  private received(bytes: Uint8Array, socket: Socket): void {
    if (socket !== this.socket) return;
    const call = this.call;
    const readNs = nowNs();
    this.lastActivityNs = readNs;
    this.response.readNs = readNs;
    if (!call.isActive) {
      this.drop();
      return;
    }
    if (this.waiting !== undefined) {
      // These bytes answer nothing: the request has not left yet.
      this.moveWaiting();
      return;
    }
    if (call.firstByteNs === 0) call.firstByteNs = readNs;
    try {
      this.parser.feed(bytes);
    } catch (error) {
      this.failReading(error);
      return;
    }
    if (this.response.isComplete) this.responded(socket);
    else this.response.keepRead();
  }

  private failReading(error: unknown): void {
    const { status } = this.parser.head;
    const failure = failureOfReading(error);
    const { call } = this;
    this.drop();
    if (failure.kind !== "limit" || status < 400) {
      this.finish(failure);
      return;
    }
    // That the server reports an error matters more than at what length.
    call.endNs = this.response.readNs;
    this.response.giveBody();
    this.finish({ kind: "http", status, message: `HTTP status ${status}` });
  }

  /** All of the response has been read. */
  private concludeResponse(): void {
    const { call, response } = this;
    response.isComplete = false;
    call.endNs = response.readNs;
    response.giveBody();
  }

  private responded(socket: Socket): void {
    const parser = this.parser;
    const call = this.call;
    this.concludeResponse();
    // A response that overtook its own request leaves the connection in an unknown state.
    const overtaken = socket.pendingBytes > 0;
    const extra = !parser.isBetweenResponses;
    this.servedNs = call.endNs;
    if (++this.servedCount === 2) this.trust.prove();
    if (!parser.keepAlive || overtaken || extra) this.drop();
    if (extra) {
      this.finish({ kind: "protocol", message: "bytes after the end of the response" });
    } else if (parser.head.status >= 300) {
      this.finish(statusFailure(parser.head.status, parser.head.location));
    } else this.succeed();
  }

  /** Ends the request with its answer, unless that turns out to be none. */
  private succeed(): void {
    const { call } = this;
    const fault = this.response.findFault(this.parser.head.contentEncoding);
    if (fault === undefined) {
      call.isActive = false;
      this.options.onDone(call);
      return;
    }
    call.body = fault.bytes;
    this.finish(unreadable(fault.reason));
  }

  private closed(error: Error | undefined, socket: Socket): void {
    if (socket !== this.socket) return;
    const wasOpen = this.isOpen;
    this.socket = undefined;
    this.isOpen = false;
    this.settlePreconnect();
    if (wasOpen && this.servedCount > 0) this.trust.refute(this.servedNs, nowNs());
    if (!this.call.isActive) return;
    if (wasOpen && this.waiting !== undefined) this.moveWaiting();
    else if (wasOpen) this.closedWhileOpen(error);
    else {
      this.waiting = undefined;
      this.finish(connectFailure(error));
    }
  }

  private closedWhileOpen(error: Error | undefined): void {
    this.response.readNs = nowNs();
    if (this.call.firstByteNs === 0) {
      if (this.canResend(error)) this.resend();
      else this.finish({ kind: "closed", message: describeClose(error, "before any byte of the response") });
      return;
    }
    try {
      this.parser.end();
    } catch (problem) {
      this.finish({ kind: "closed", message: failureOfReading(problem).message });
      return;
    }
    if (this.response.isComplete) this.respondedByClose();
    else this.finish({ kind: "closed", message: describeClose(error, "within the response") });
  }

  /** Whether a request was written to a connection that had answered others, and no byte of an answer has come. */
  private isUnanswered(): boolean {
    const { call } = this;
    return call.isActive && call.firstByteNs === 0 && this.servedCount > 0 && this.waiting === undefined;
  }

  /**
   * Whether the server certainly has not read the request: it had closed the connection when the request came, and its host refused it.
   * Under TLS that proves nothing, because what is refused may be the answer to the goodbye.
   */
  private canResend(error: Error | undefined): boolean {
    const isReused = this.servedCount > 0 && this.context.endpoint.tls === undefined;
    return isReused && isRefusedAfterClose(error) && this.resends < MAX_RESENDS;
  }

  private resend(): void {
    this.resends++;
    this.resendCount++;
    this.waiting = this.sent;
    this.connect();
  }

  /** The response lasted until the connection closed. */
  private respondedByClose(): void {
    const { status, location } = this.parser.head;
    this.concludeResponse();
    if (status >= 300) this.finish(statusFailure(status, location));
    else this.succeed();
  }

  private finish(failure: Failure): void {
    const call = this.call;
    if (!call.isActive) return;
    if (failure.kind !== "http" && failure.kind !== "unreadable") call.endNs = nowNs();
    if (call.firstByteNs === 0) call.firstByteNs = call.endNs;
    call.failure = failure;
    call.isActive = false;
    call.isSending = false;
    this.response.reset();
    this.options.onDone(call);
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = undefined;
    this.isOpen = false;
    this.waiting = undefined;
    if (this.holdTimer !== undefined) clearTimeout(this.holdTimer);
    this.holdTimer = undefined;
    this.settlePreconnect();
    socket?.close();
  }

  private settlePreconnect(): void {
    const settle = this.onPreconnected;
    this.onPreconnected = undefined;
    settle?.();
  }
}

function expectOneResponse(call: Call): void {
  expectResponses(call);
  call.responseCount = 1;
  call.messageCount = 1;
}
