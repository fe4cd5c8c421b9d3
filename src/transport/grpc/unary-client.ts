import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { type AnswerCheck, type AnswerFault, unreadable } from "../answer-check.ts";
import type { Call, ClientOptions } from "../client.ts";
import { type Failure, failureOfReading } from "../failure.ts";
import type { Http2Connection } from "../http2/connection.ts";
import type { SendTicket, StreamFailure, StreamSink } from "../http2/stream.ts";
import type { Header } from "../request.ts";
import { StampScratch } from "../stamp-scratch.ts";
import type { Channel, ChannelUser } from "./channel.ts";
import { GrpcClient, type GrpcSlot } from "./client.ts";
import type { GrpcMessage } from "./encode.ts";
import { type Keep, MessageReader, type MessageSink } from "./messages.ts";
import { type GrpcHead, readHead, toFailure } from "./response-head.ts";

const MAX_RESENDS = 2;

/** Rampart's gRPC client for unary calls. */
export class GrpcUnaryClient extends GrpcClient<UnarySlot> {
  protected createSlot(call: Call, channel: Channel): UnarySlot {
    return new UnarySlot(call, channel, this.options);
  }

  protected abort(): void {
    for (const slot of this.slots) slot.abort();
  }
}

class UnarySlot implements GrpcSlot, StreamSink, MessageSink, SendTicket, ChannelUser {
  path = "";
  private readonly call: Call;
  private readonly channel: Channel;
  private readonly options: ClientOptions;
  private readonly reader: MessageReader;
  private readonly scratch = new StampScratch();
  private bytes: Uint8Array = new Uint8Array(0);
  private connection: Http2Connection | undefined;
  private streamId = 0;
  private messageCount = 0;
  private resends = 0;
  /** Time when this call's stream last received a byte. */
  private lastReceivedNs = 0;
  private head: GrpcHead | undefined;
  /** Checks messages that are not kept; created with the first one. */
  private check: AnswerCheck | undefined;
  private fault: AnswerFault | undefined;
  private isInPieces = false;
  /** For the current request: the client's options may change meanwhile. */
  private keep: Keep = "none";

  constructor(call: Call, channel: Channel, options: ClientOptions) {
    this.call = call;
    this.channel = channel;
    this.options = options;
    this.reader = new MessageReader(this, "none", options.maxResponseBytes);
  }

  send(path: string, message: GrpcMessage, stamp: Uint8Array | undefined): void {
    const call = this.call;
    call.failure = undefined;
    call.body = undefined;
    call.decodeNs = 0;
    call.isActive = true;
    call.firstByteNs = 0;
    call.sendStartNs = nowNs();
    call.sendEndNs = call.sendStartNs;
    call.isSending = true;
    this.bytes = stamp === undefined || message.stampOffset < 0 ? message.bytes : this.scratch.fill(message, stamp);
    this.resends = 0;
    this.path = path;
    this.channel.begin(this);
  }

  open(connection: Http2Connection, block: Uint8Array): void {
    this.connection = connection;
    this.messageCount = 0;
    this.head = undefined;
    this.fault = undefined;
    this.isInPieces = false;
    this.keep = this.chooseKeep();
    this.reader.reset(this.keep);
    this.streamId = connection.openStream(this, block);
    connection.sendData(this.streamId, this.bytes, true, this);
  }

  onSent(sentNs: number): void {
    const call = this.call;
    call.sendEndNs = sentNs;
    if (!call.isSending) return;
    call.isSending = false;
    this.options.onSent?.(call);
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
    if (isLast) this.finish(head.grpcStatus < 0 && this.head !== undefined ? this.head : head);
    else {
      this.head = head;
      this.reader.encoding = head.encoding;
    }
  }

  onData(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    this.touch();
    try {
      this.reader.feed(bytes, start, end);
    } catch (error) {
      this.cancelStream(failureOfReading(error));
      return;
    }
    if (isLast) this.fail(this.toUnterminated());
  }

  onMessage(bytes: Uint8Array, start: number, end: number): void {
    const { call, check } = this;
    this.messageCount++;
    if (!call.isChecked) {
      if (this.keep === "whole") call.body = bytes.slice(start, end);
    } else if (check !== undefined) {
      this.fault = this.isInPieces ? check.end() : check.whole(bytes, start, end, call);
      this.isInPieces = false;
    }
  }

  onPiece(bytes: Uint8Array, start: number, end: number, isFirst: boolean): void {
    this.isInPieces = true;
    if (isFirst) this.check?.begin(this.call);
    this.check?.piece(bytes, start, end);
  }

  onFailed(problem: StreamFailure): void {
    if (problem.isUnprocessed && this.call.firstByteNs === 0 && this.resends < MAX_RESENDS) {
      // The server did not process the request, so resending cannot run it twice.
      this.resends++;
      this.channel.resendCount++;
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
    if (Math.max(call.sendStartNs, this.lastReceivedNs) > deadlineNs) return false;
    this.cancelStream({
      kind: "stalled",
      message: `no byte received for ${formatDurationNs(this.options.stallTimeoutNs)}`,
    });
    return true;
  }

  abort(): void {
    this.fail({ kind: "aborted", message: "still in flight when the run ended" });
  }

  private chooseKeep(): Keep {
    const { keepBodies, createCheck } = this.options;
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
    const failure = toFailure(head) ?? this.checkMessage(head);
    if (failure !== undefined) {
      this.fail(failure);
      return;
    }
    const call = this.call;
    call.endNs = (this.connection as Http2Connection).readNs;
    call.isActive = false;
    this.options.onDone(call);
  }

  private checkMessage(head: GrpcHead): Failure | undefined {
    if (this.messageCount === 1 && this.reader.isBetweenMessages)
      return this.fault === undefined ? undefined : unreadable(this.fault.reason);
    if (head.httpStatus === 200 && this.messageCount === 0)
      return { kind: "protocol", message: "status OK without a message" };
    return { kind: "protocol", message: `${this.messageCount} messages in answer to a unary call` };
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
    this.fail(failure);
    this.channel.flush();
  }

  private fail(failure: Failure): void {
    const call = this.call;
    if (!call.isActive) return;
    call.fail(failure, nowNs());
    this.options.onDone(call);
  }
}
