import { NO_BYTES } from "../../runtime/bytes.ts";
import { nowNs } from "../../runtime/clock.ts";
import type { Call } from "../call.ts";
import type { ClientOptions } from "../client.ts";
import { ABORTED, type Failure, failureOfReading, silentFor } from "../failure.ts";
import type { Http2Connection } from "../http2/connection.ts";
import { type SendTicket, Stream, type StreamFailure, type StreamSink } from "../http2/stream.ts";
import type { Header } from "../request.ts";
import type { ResponseCheck, ResponseFault } from "../response-check.ts";
import { StampScratch } from "../stamp-scratch.ts";
import type { Channel, ChannelUser } from "./channel.ts";
import type { GrpcSlot } from "./client.ts";
import type { GrpcMessage } from "./encode.ts";
import { type Keep, MessageReader, type MessageSink } from "./messages.ts";
import { type GrpcHead, readHead, toEarlyFailure, toFailure } from "./response-head.ts";
import { SendProgress } from "./send-progress.ts";

const NO_HEADERS: readonly Header[] = [];

/** A slot whose requests are separate gRPC calls, each on its own HTTP/2 stream. */
export abstract class CallSlot implements GrpcSlot, StreamSink, MessageSink, SendTicket, ChannelUser {
  path = "";
  headers = NO_HEADERS;
  protected readonly call: Call;
  protected readonly options: ClientOptions;
  protected readonly reader: MessageReader;
  protected message: GrpcMessage | undefined;
  protected connection: Http2Connection | undefined;
  /** Id of the stream; 0 without an open stream. */
  protected streamId = 0;
  /** Checks messages that are not kept; created with the first one. */
  protected check: ResponseCheck | undefined;
  /** Reason why the response is not valid. */
  protected fault: ResponseFault | undefined;
  /** Value for the current request, because the client's options may change meanwhile. */
  protected keep: Keep = "none";
  private readonly channel: Channel;
  private readonly stream = new Stream(this);
  private readonly scratch = new StampScratch();
  private bytes: Uint8Array = NO_BYTES;
  private readonly progress = new SendProgress();
  /** Time when this call's stream last received a byte. */
  private lastReceivedNs = 0;
  private head: GrpcHead | undefined;
  private isInPieces = false;

  constructor(call: Call, channel: Channel, options: ClientOptions) {
    this.call = call;
    this.channel = channel;
    this.options = options;
    this.reader = new MessageReader(this, "none", options.maxResponseBytes);
  }

  /** Prepares for the responses of a call, which may be sent again. */
  protected abstract expect(): void;

  /** Receives a message. The arguments are those of {@link MessageSink}. */
  abstract onMessage(bytes: Uint8Array, start: number, end: number): void;

  /** Returns the fault in the messages of a call whose status is OK. */
  protected abstract checkResponses(head: GrpcHead): Failure | undefined;

  send(path: string, message: GrpcMessage, stamp: Uint8Array | undefined): void {
    const call = this.call;
    call.begin();
    call.startSending(nowNs());
    this.message = message;
    this.bytes = stamp === undefined || message.stampOffset < 0 ? message.bytes : this.scratch.fill(message, stamp);
    this.path = path;
    this.headers = message.headers;
    this.channel.begin(this);
  }

  open(connection: Http2Connection, block: Uint8Array): void {
    this.connection = connection;
    this.call.hasStream = true;
    this.head = undefined;
    this.fault = undefined;
    this.isInPieces = false;
    this.keep = this.chooseKeep();
    this.reader.reset(this.keep);
    this.expect();
    this.streamId = connection.openStream(this.stream, block);
    connection.sendData(this.streamId, this.bytes, this.message?.later.length === 0, this);
  }

  onSent(sentNs: number): void {
    this.call.noteSent(sentNs, this.options.onSent);
  }

  onHeaders(headers: readonly Header[], isLast: boolean): void {
    this.touch();
    this.options.onMetadata?.(this.call, headers, isLast);
    let head: GrpcHead;
    try {
      head = readHead(headers);
    } catch (error) {
      this.cancelStream(failureOfReading(error));
      return;
    }
    if (isLast) {
      this.finish(head.grpcStatus < 0 && this.head !== undefined ? this.head : head);
      return;
    }
    const failure = toEarlyFailure(head);
    if (failure !== undefined) {
      this.cancelStream(failure);
      return;
    }
    this.head = head;
    this.reader.encoding = head.encoding;
  }

  onData(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    const { streamId } = this;
    this.touch();
    try {
      this.reader.feed(bytes, start, end);
    } catch (error) {
      this.cancelStream(failureOfReading(error));
      return;
    }
    // A callback may have ended the call, and the slot may already have its next call.
    if (isLast && streamId === this.streamId) this.fail(this.toUnterminated());
  }

  onPiece(bytes: Uint8Array, start: number, end: number, isFirst: boolean): void {
    this.isInPieces = true;
    if (isFirst) this.check?.begin(this.call);
    this.check?.piece(bytes, start, end);
  }

  onFailed(problem: StreamFailure): void {
    if (problem.isUnprocessed && this.call.firstByteNs === 0 && this.channel.mayResend(this.call)) {
      this.channel.begin(this);
      this.channel.flush();
      return;
    }
    this.fail(problem.failure);
  }

  cancel(failure: Failure): void {
    if (this.call.isActive) this.cancelStream(failure);
  }

  failIfSilentSince(deadlineNs: number): boolean {
    const call = this.call;
    if (!call.isActive) return false;
    const acceptedNs = this.progress.look(this.connection, this.streamId);
    if (Math.max(call.sendStartNs, this.lastReceivedNs, acceptedNs) > deadlineNs) return false;
    this.cancelStream(silentFor(this.options.stallTimeoutNs));
    return true;
  }

  abort(): void {
    this.fail(ABORTED);
  }

  /** Checks a message that is not kept, and returns its fault. */
  protected inspect(check: ResponseCheck, bytes: Uint8Array, start: number, end: number): ResponseFault | undefined {
    if (!this.isInPieces) return check.whole(bytes, start, end, this.call);
    this.isInPieces = false;
    return check.end();
  }

  private chooseKeep(): Keep {
    const { keepBodies, createCheck } = this.options.responses;
    this.call.isChecked = !keepBodies && createCheck !== undefined;
    if (keepBodies) return "whole";
    this.check ??= createCheck?.();
    return this.check === undefined ? "none" : "pieces";
  }

  private touch(): void {
    const call = this.call;
    this.lastReceivedNs = (this.connection as Http2Connection).readNs;
    if (call.firstByteNs === 0) call.firstByteNs = this.lastReceivedNs;
  }

  private finish(head: GrpcHead): void {
    const failure = toFailure(head) ?? this.checkResponses(head);
    if (failure !== undefined) {
      this.fail(failure);
      return;
    }
    const call = this.call;
    const { readNs } = this.connection as Http2Connection;
    // A server may end a call before it has read all of the request.
    if (call.isSending) call.sendEndNs = readNs;
    call.isSending = false;
    this.complete(readNs);
    call.isActive = false;
    this.options.onDone(call);
  }

  /** Sets the times of a successful call. @param readNs time of its trailers */
  protected complete(readNs: number): void {
    this.call.endNs = readNs;
  }

  private toUnterminated(): Failure {
    const head = this.head;
    if (head !== undefined && head.httpStatus !== 200) return toFailure(head) as Failure;
    return { kind: "protocol", message: "response ended without trailers" };
  }

  /** Fails the call and resets its stream. */
  private cancelStream(failure: Failure): void {
    this.channel.forget(this);
    this.connection?.cancelStream(this.streamId);
    this.streamId = 0;
    this.fail(failure);
    this.channel.flushSoon();
  }

  private fail(failure: Failure): void {
    // The bytes of an incomplete message count until then.
    this.reader.reset("none");
    if (this.isInPieces) this.check?.begin(this.call);
    this.call.failNow(failure, this.options.onDone);
  }
}
