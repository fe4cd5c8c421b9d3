import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { type AnswerCheck, type AnswerFault, unreadable } from "../answer-check.ts";
import type { Call, ClientOptions } from "../client.ts";
import { type Failure, failureOfReading } from "../failure.ts";
import type { Http2Connection } from "../http2/connection.ts";
import type { SendTicket, StreamFailure, StreamSink } from "../http2/stream.ts";
import type { Header } from "../request.ts";
import { StampScratch } from "../stamp-scratch.ts";
import { GrpcClient, type GrpcSlot } from "./client.ts";
import type { GrpcMessage } from "./encode.ts";
import type { Line, LineUser } from "./line.ts";
import { type Keep, MessageReader, type MessageSink } from "./messages.ts";
import { type GrpcHead, readHead, toFailure } from "./response-head.ts";

const MAX_RESENDS = 2;

/** The gRPC client of the measured path for unary calls. */
export class GrpcUnaryClient extends GrpcClient<UnarySlot> {
  protected createSlot(call: Call, line: Line): UnarySlot {
    return new UnarySlot(call, line, this.options);
  }

  protected abort(): void {
    for (const slot of this.slots) slot.abort();
  }
}

class UnarySlot implements GrpcSlot, StreamSink, MessageSink, SendTicket, LineUser {
  path = "";
  private readonly call: Call;
  private readonly line: Line;
  private readonly options: ClientOptions;
  private readonly reader: MessageReader;
  private readonly scratch = new StampScratch();
  private bytes: Uint8Array = new Uint8Array(0);
  private connection: Http2Connection | undefined;
  private streamId = 0;
  private messageCount = 0;
  private resends = 0;
  /** When this call's stream last brought a byte. */
  private heardNs = 0;
  private head: GrpcHead | undefined;
  /** Looks at messages that are not kept; made with the first one. */
  private check: AnswerCheck | undefined;
  private fault: AnswerFault | undefined;
  private isInPieces = false;
  /** For the present request: the client's options may change while it is under way. */
  private keep: Keep = "none";

  constructor(call: Call, line: Line, options: ClientOptions) {
    this.call = call;
    this.line = line;
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
    this.line.begin(this);
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
      this.giveUp(failureOfReading(error));
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
      this.giveUp(failureOfReading(error));
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
      // The server said that it never looked at the request: sending it again cannot run it twice.
      this.resends++;
      this.line.resendCount++;
      this.line.begin(this);
      this.line.flush();
      return;
    }
    this.fail(problem.failure);
  }

  cancel(failure: Failure): void {
    if (this.call.isActive) this.giveUp(failure);
  }

  failIfSilentSince(deadlineNs: number): boolean {
    const call = this.call;
    if (!call.isActive) return false;
    if (Math.max(call.sendStartNs, this.heardNs) > deadlineNs) return false;
    this.giveUp({ kind: "stalled", message: `no byte received for ${formatDurationNs(this.options.stallTimeoutNs)}` });
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
    this.heardNs = (this.connection as Http2Connection).readNs;
    if (call.firstByteNs === 0) call.firstByteNs = this.heardNs;
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

  /** Fails the call and takes its stream back. */
  private giveUp(failure: Failure): void {
    this.line.forget(this);
    this.connection?.cancelStream(this.streamId);
    this.fail(failure);
    this.line.flush();
  }

  private fail(failure: Failure): void {
    const call = this.call;
    if (!call.isActive) return;
    call.endNs = nowNs();
    if (call.firstByteNs === 0) call.firstByteNs = call.endNs;
    call.failure = failure;
    call.isActive = false;
    call.isSending = false;
    this.options.onDone(call);
  }
}
