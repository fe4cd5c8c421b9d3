import { nsToMs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { isRefusedAfterClose, type Socket } from "../../runtime/socket.ts";
import { arrivalNs } from "../arrival.ts";
import type { Call } from "../call.ts";
import type { ClientOptions, ReceivedCounts } from "../client.ts";
import { connectFailure, describeClose } from "../connect-failure.ts";
import { type Failure, failureOfReading, silentFor } from "../failure.ts";
import { openNamedSocket } from "../named-socket.ts";
import type { Endpoint } from "../request.ts";
import { StampScratch } from "../stamp-scratch.ts";
import { expectOneResponse } from "../streamed-responses.ts";
import { ConnectionReuse, type ServerReuse, wasClosing } from "./connection-reuse.ts";
import { type Http1Message, headOf } from "./encode.ts";
import { ResponseParser } from "./parser.ts";
import { ReceivedResponse } from "./received-response.ts";

/** Parts that the connections of a client share. */
export interface ConnectionContext {
  readonly endpoint: Endpoint;
  readonly options: ClientOptions;
  readonly reuse: ServerReuse;
  /** Counts what all connections receive. */
  readonly counts: ReceivedCounts;
}

/** A slot's keep-alive connection. It carries one request at a time, and reconnects after a close. */
export class Connection {
  /** Number of connections opened so far. */
  openedCount = 0;
  /** Number of times that a request was sent again. */
  resendCount = 0;
  private readonly call: Call;
  private readonly context: ConnectionContext;
  private readonly options: ClientOptions;
  private readonly reuse: ConnectionReuse;
  private parser: ResponseParser;
  private socket: Socket | undefined;
  private isOpen = false;
  private waiting: Uint8Array | undefined;
  private onPreconnected: (() => void) | undefined;
  private readonly scratch = new StampScratch();
  private lastActivityNs = 0;
  private readonly response: ReceivedResponse;
  /** Number of responses on the current connection. */
  private servedCount = 0;
  /** End of the latest response. */
  private servedNs = 0;
  /** Runs while the second request waits for a possible close; see {@link ConnectionReuse}. */
  private holdTimer: ReturnType<typeof setTimeout> | undefined;
  /** Bytes of the current request. */
  private sent: Uint8Array = new Uint8Array(0);
  /** Whether the current request is a HEAD. */
  private isHead = false;

  constructor(call: Call, context: ConnectionContext) {
    const { options, reuse } = context;
    this.reuse = new ConnectionReuse(reuse);
    this.call = call;
    this.context = context;
    this.options = options;
    this.response = new ReceivedResponse(call, options, context.endpoint);
    this.parser = new ResponseParser(this.response);
  }

  /** Opens the connection, unless a request has already started to open it. */
  preconnect(): Promise<void> {
    if (this.socket !== undefined) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onPreconnected = resolve;
    this.connect();
    return promise;
  }

  send(message: Http1Message, stamp: Uint8Array | undefined): void {
    const call = this.call;
    call.begin();
    if (call.lastMessageNs !== 0 || call.responseCount !== 1) expectOneResponse(call);
    const bytes = stamp === undefined || message.stampOffset < 0 ? message.bytes : this.scratch.fill(message, stamp);
    this.sent = bytes;
    this.isHead = message.isHead;
    this.parser.isHead = message.isHead;
    // The connection may be older than this setting.
    this.parser.keepsHead = this.keepsHead;
    this.options.onWire?.(">", headOf(bytes));
    const startNs = nowNs();
    call.sendStartNs = startNs;
    this.lastActivityNs = startNs;
    const isSecond = this.isOpen && this.servedCount === 1;
    const holdNs = isSecond ? this.reuse.waitNs(this.servedNs, this.response.isStream, startNs) : 0;
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
      // The connection is still being opened, ahead of the first request.
      if (this.onPreconnected !== undefined) this.drop();
      return;
    }
    this.drop();
    this.response.fail(silentFor(this.options.stallTimeoutNs));
  }

  /** Closes the connection and fails its request, if any. */
  abort(failure: Failure): void {
    this.drop();
    this.response.fail(failure);
  }

  private get keepsHead(): boolean {
    return this.options.onWire !== undefined || this.options.responses.keepHeaders === true;
  }

  private connect(): void {
    const { endpoint } = this.context;
    this.parser = new ResponseParser(this.response);
    this.parser.isHead = this.isHead;
    this.parser.keepsHead = this.keepsHead;
    this.parser.maxBodyBytes = this.options.maxResponseBytes;
    this.response.reset();
    this.servedCount = 0;
    this.lastActivityNs = nowNs();
    const socket: Socket = openNamedSocket(endpoint, {
      onOpen: () => this.opened(socket),
      onData: (bytes) => this.received(bytes, socket),
      isUnanswered: () => socket === this.socket && this.isUnanswered(),
      onDrained: () => this.drained(socket),
      onClose: (error) => this.closed(error, socket),
    });
    this.socket = socket;
  }

  private opened(socket: Socket): void {
    if (socket !== this.socket) return;
    this.openedCount++;
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
    call.noteSent(nowNs(), this.options.onSent);
  }

  /** A long request is sent when the kernel has accepted all of it. */
  private drained(socket: Socket): void {
    const { call } = this;
    if (socket !== this.socket || !call.isActive || call.firstByteNs !== 0 || this.waiting !== undefined) return;
    call.sendEndNs = nowNs();
    this.lastActivityNs = call.sendEndNs;
  }

  /** Delays the request in case the server closes the connection, then writes it. */
  private hold(socket: Socket, holdNs: number): void {
    const release = (): void => {
      if (socket !== this.socket || this.waiting === undefined) return;
      this.restartSend();
      this.writeWaiting(socket);
    };
    // One turn of the event loop later, so that a close that has arrived is read first.
    this.holdTimer = setTimeout(() => setImmediate(release), nsToMs(holdNs));
  }

  /** Resets the start of sending to now. Nothing of the request has been written, and the client itself chose to wait. */
  private restartSend(): void {
    this.call.sendStartNs = nowNs();
    this.lastActivityNs = this.call.sendStartNs;
  }

  /** Sends the waiting request over a new connection. */
  private moveWaiting(): void {
    const { waiting } = this;
    this.drop();
    this.waiting = waiting;
    this.restartSend();
    this.connect();
  }

  private received(bytes: Uint8Array, socket: Socket): void {
    if (socket !== this.socket) return;
    const call = this.call;
    const readNs = arrivalNs(nowNs(), call.sendEndNs, bytes.length);
    this.lastActivityNs = readNs;
    this.response.readNs = readNs;
    if (!call.isActive || this.waiting !== undefined) {
      // The bytes are unexpected, because no request has been sent.
      this.context.counts.unaskedCount++;
      if (call.isActive) this.moveWaiting();
      else this.drop();
      return;
    }
    if (call.firstByteNs === 0) call.firstByteNs = readNs;
    this.context.counts.bytes += bytes.length;
    try {
      this.parser.feed(bytes);
      if (!this.response.isComplete) this.response.keepUnread();
    } catch (error) {
      this.drop();
      this.response.failReading(error, this.parser.head.status);
      return;
    }
    if (this.response.isComplete) this.responded(socket);
  }

  private responded(socket: Socket): void {
    const parser = this.parser;
    const call = this.call;
    this.completeResponse();
    // After a response that arrived before its request was fully sent, the connection's state is unknown.
    const overtaken = socket.pendingBytes > 0;
    const extra = !parser.isBetweenResponses;
    this.servedNs = call.endNs;
    if (++this.servedCount === 1) this.reuse.answered(call.endNs, this.response.isStream);
    else if (this.servedCount === 2) this.reuse.prove(this.response.isStream);
    if (!parser.keepAlive || overtaken || extra) this.drop();
    if (extra) {
      this.response.fail({ kind: "protocol", message: "bytes after the end of the response" });
    } else this.response.conclude(parser.head);
  }

  private closed(error: Error | undefined, socket: Socket): void {
    if (socket !== this.socket) return;
    const wasOpen = this.isOpen;
    this.socket = undefined;
    this.isOpen = false;
    if (!wasOpen && !this.call.isActive) this.options.onConnectFailure?.(connectFailure(error));
    this.settlePreconnect();
    this.reuse.closed();
    const { isActive, firstByteNs } = this.call;
    // Only a close after the first response counts: later closes, and a close within a response, prove nothing about
    // reuse.
    if (wasOpen && this.servedCount === 1 && !(isActive && firstByteNs > 0)) this.reuse.refute(this.servedNs, nowNs());
    if (!isActive) return;
    if (wasOpen && this.waiting !== undefined) this.moveWaiting();
    else if (wasOpen) this.closedWhileOpen(error);
    else {
      this.waiting = undefined;
      this.response.fail(connectFailure(error));
    }
  }

  private closedWhileOpen(error: Error | undefined): void {
    this.response.readNs = nowNs();
    if (this.call.firstByteNs === 0) {
      if (this.canResend(error)) this.resend();
      else this.response.fail({ kind: "closed", message: describeClose(error, "before any byte of the response") });
      return;
    }
    try {
      this.parser.end();
    } catch (problem) {
      this.response.fail({ kind: "closed", message: failureOfReading(problem).message });
      return;
    }
    if (!this.response.isComplete) {
      this.response.fail({ kind: "closed", message: describeClose(error, "within the response") });
      return;
    }
    // The response's body ends with the connection.
    this.completeResponse();
    this.response.conclude(this.parser.head);
  }

  private completeResponse(): void {
    this.response.complete();
    const { statusCounts } = this.context.counts;
    const { status } = this.parser.head;
    statusCounts[status] = (statusCounts[status] as number) + 1;
  }

  /**
   * Whether the request was written to a reused connection, so that only a rejection can show that the server has not read
   * it.
   */
  private isUnanswered(): boolean {
    const { call } = this;
    if (!call.isActive || call.firstByteNs !== 0 || this.servedCount === 0 || this.waiting !== undefined) return false;
    return !wasClosing(call.sendStartNs, this.servedNs, true);
  }

  /**
   * Whether a request without any byte of a response is resent on a new connection, once: its connection was reused, and either it was
   * closing, or the server's host rejected the request because it had already closed the connection. Under TLS a rejection proves nothing,
   * because the rejected bytes may be the reply to `close_notify`. A reset of a connection that was not idle is a failure.
   */
  private canResend(error: Error | undefined): boolean {
    if (this.servedCount === 0) return false;
    if (wasClosing(this.call.sendStartNs, this.servedNs, error === undefined)) return true;
    return this.context.endpoint.tls === undefined && isRefusedAfterClose(error);
  }

  private resend(): void {
    this.resendCount++;
    this.call.resends++;
    this.waiting = this.sent;
    this.connect();
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = undefined;
    this.isOpen = false;
    this.waiting = undefined;
    if (this.holdTimer !== undefined) clearTimeout(this.holdTimer);
    this.holdTimer = undefined;
    this.reuse.closed();
    this.settlePreconnect();
    socket?.close();
  }

  private settlePreconnect(): void {
    const settle = this.onPreconnected;
    this.onPreconnected = undefined;
    settle?.();
  }
}
