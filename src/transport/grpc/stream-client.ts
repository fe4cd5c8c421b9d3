import { nowNs } from "../../runtime/clock.ts";
import type { Call } from "../call.ts";
import type { ClientOptions } from "../client.ts";
import { type Failure, failureOfReading, silentFor } from "../failure.ts";
import type { Http2Connection } from "../http2/connection.ts";
import { type SendTicket, Stream, type StreamFailure, type StreamSink } from "../http2/stream.ts";
import { latin1Text } from "../latin1.ts";
import type { Endpoint, Header } from "../request.ts";
import { type ResponseCheck, unreadable } from "../response-check.ts";
import { StampScratch } from "../stamp-scratch.ts";
import {
  addResponse,
  concludeResponse,
  expectResponses,
  isLastResponse,
  type ReadStreamed,
  type StreamedResponse,
} from "../streamed-responses.ts";
import type { Channel, ChannelUser } from "./channel.ts";
import { GrpcClient, type GrpcSlot } from "./client.ts";
import type { GrpcMessage } from "./encode.ts";
import { MessageReader, type MessageSink } from "./messages.ts";
import { type GrpcHead, readHead, toEarlyFailure, toFailure } from "./response-head.ts";
import { SendProgress } from "./send-progress.ts";

/** Rampart's gRPC client for bidirectional streams: one long-lived stream per lane, responses matched to requests by id. */
export class GrpcStreamClient extends GrpcClient<StreamSlot> {
  private readonly readStreamed: ReadStreamed;
  private readonly lanes: LaneStream[] = [];

  constructor(endpoint: Endpoint, options: ClientOptions, readStreamed: ReadStreamed) {
    super(endpoint, options);
    this.readStreamed = readStreamed;
  }

  protected createSlot(call: Call, channel: Channel): StreamSlot {
    const index = call.slot % this.options.lanes.laneCount;
    let lane = this.lanes[index];
    if (lane === undefined) {
      lane = new LaneStream(channel, this.readStreamed, this.options.maxResponseBytes);
      this.lanes[index] = lane;
    }
    return new StreamSlot(call, lane, this.options);
  }

  protected override endStreams(): void {
    for (const lane of this.lanes) lane.end();
  }

  protected abort(failure: Failure): void {
    for (const lane of this.lanes) lane.failAll(failure);
  }
}

/** The stream of one lane. It is opened with the lane's first request, and again after the server ends it. */
class LaneStream implements StreamSink, MessageSink, ChannelUser {
  path = "";
  readonly headers: readonly Header[] = [];
  private readonly stream = new Stream(this);
  private readonly channel: Channel;
  private readonly readStreamed: ReadStreamed;
  private readonly reader: MessageReader;
  /** Requests in flight, oldest first. */
  private readonly active = new Map<string, StreamSlot>();
  private readonly unsent: StreamSlot[] = [];
  private readonly progress = new SendProgress();
  private connection: Http2Connection | undefined;
  private streamId = 0;
  private isOpen = false;
  private isOpening = false;
  private head: GrpcHead | undefined;
  /** Id of the latest response that belongs to no request in flight, and when it arrived. */
  private stray = { id: "", atNs: 0 };

  constructor(channel: Channel, readStreamed: ReadStreamed, maxResponseBytes: number) {
    this.reader = new MessageReader(this, "whole", maxResponseBytes);
    this.channel = channel;
    this.readStreamed = readStreamed;
  }

  send(path: string, slot: StreamSlot): void {
    this.path = path;
    this.active.set(slot.id, slot);
    if (this.isOpen) {
      slot.call.hasStream = true;
      (this.connection as Http2Connection).sendData(this.streamId, slot.bytes, false, slot);
      return;
    }
    this.unsent.push(slot);
    if (this.isOpening) return;
    this.isOpening = true;
    this.channel.begin(this);
  }

  open(connection: Http2Connection, block: Uint8Array): void {
    this.connection = connection;
    this.reader.reset("whole");
    this.head = undefined;
    this.isOpening = false;
    this.isOpen = true;
    this.streamId = connection.openStream(this.stream, block);
    for (const slot of this.unsent) {
      slot.call.hasStream = true;
      connection.sendData(this.streamId, slot.bytes, false, slot);
    }
    this.unsent.length = 0;
  }

  /** Half-closes the stream. */
  end(): void {
    if (this.isOpen) this.connection?.sendData(this.streamId, new Uint8Array(0), true, undefined);
  }

  /** Removes a request that has received its last response. */
  removeFinished(slot: StreamSlot): void {
    this.active.delete(slot.id);
  }

  forget(slot: StreamSlot): void {
    this.active.delete(slot.id);
    const index = this.unsent.indexOf(slot);
    if (index >= 0) this.unsent.splice(index, 1);
  }

  /** Cancels the slot's request. Resets the stream when it carries no other request. */
  cancel(slot: StreamSlot): void {
    this.forget(slot);
    // The next request may use the same stream.
    this.channel.flushSoon();
    if (this.active.size > 0 || !this.isOpen) return;
    this.isOpen = false;
    this.reader.reset("whole");
    this.connection?.cancelStream(this.streamId);
  }

  failAll(failure: Failure): void {
    this.reader.reset("whole");
    const slots = [...this.active.values()];
    this.active.clear();
    this.unsent.length = 0;
    for (const slot of slots) slot.fail(failure);
  }

  /** Returns the time of the last check at which the server had accepted more of the requests on the stream. */
  acceptedNs(): number {
    return this.progress.look(this.connection, this.streamId);
  }

  onHeaders(headers: readonly Header[], isLast: boolean): void {
    try {
      const head = readHead(headers);
      const failure = isLast ? undefined : toEarlyFailure(head);
      if (failure !== undefined) {
        this.abandon(failure);
        return;
      }
      if (!isLast) {
        this.head = head;
        this.reader.encoding = head.encoding;
        return;
      }
      this.isOpen = false;
      const outcome = head.grpcStatus >= 0 ? head : (this.head ?? head);
      this.failAll(toFailure(outcome) ?? { kind: "closed", message: "server ended the stream" });
    } catch (error) {
      this.abandon(failureOfReading(error));
    }
  }

  onData(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    try {
      this.reader.feed(bytes, start, end);
    } catch (error) {
      this.abandon(failureOfReading(error));
      return;
    }
    if (!isLast) return;
    this.isOpen = false;
    this.failAll({ kind: "protocol", message: "stream ended without trailers" });
  }

  onMessage(bytes: Uint8Array, start: number, end: number): void {
    const beganNs = nowNs();
    const response = this.readStreamed(bytes, start, end);
    // An error without an id belongs to the oldest request.
    const id = response.id === "" ? (this.active.keys().next().value ?? "") : response.id;
    const slot = this.active.get(id);
    if (slot === undefined) this.stray = { id, atNs: beganNs };
    else slot.receive(response, bytes, this.connection as Http2Connection, beganNs);
  }

  /** Returns the id of a response since this time that belongs to no request in flight; undefined if there was none. */
  strayIdSince(sinceNs: number): string | undefined {
    const { id, atNs } = this.stray;
    return atNs >= sinceNs && id !== "" ? id : undefined;
  }

  /** Returns a part of the message that is passed on, which the caller owns. */
  own(bytes: Uint8Array, start: number, end: number): Uint8Array {
    return this.reader.own(bytes, start, end);
  }

  /** Requests on a stream that the server did not process are sent again on another. */
  onFailed({ failure, isUnprocessed }: StreamFailure): void {
    this.isOpen = false;
    const isWhole = isUnprocessed && this.head === undefined;
    const again = [...this.active.values()].filter(({ call }) => isWhole && this.channel.mayResend(call));
    for (const slot of again) this.active.delete(slot.id);
    this.failAll(failure);
    for (const slot of again) this.send(this.path, slot);
    this.channel.flush();
  }

  private abandon(failure: Failure): void {
    this.isOpen = false;
    this.connection?.cancelStream(this.streamId);
    this.failAll(failure);
  }
}

class StreamSlot implements GrpcSlot, SendTicket {
  id = "";
  bytes: Uint8Array = new Uint8Array(0);
  readonly call: Call;
  private readonly lane: LaneStream;
  private readonly options: ClientOptions;
  private scratch = new StampScratch();
  /** Time of the latest response, or of sending. */
  private lastReceivedNs = 0;
  /** Checks responses that are not kept; created with the first one. */
  private check: ResponseCheck | undefined;
  /** Whether responses to the current request are kept. Stored per request, because the client's options may change meanwhile. */
  private keeps = false;

  constructor(call: Call, lane: LaneStream, options: ClientOptions) {
    this.call = call;
    this.lane = lane;
    this.options = options;
  }

  send(path: string, message: GrpcMessage, stamp: Uint8Array | undefined): void {
    if (stamp === undefined) throw new Error("requests on a stream need an id");
    const call = this.call;
    call.begin();
    this.keeps = this.options.responses.keepBodies;
    if (!this.keeps) this.check ??= this.options.responses.createCheck?.();
    call.isChecked = !this.keeps && this.check !== undefined;
    expectResponses(call);
    call.startSending(nowNs());
    this.lastReceivedNs = call.sendStartNs;
    this.id = latin1Text(stamp, 0, message.idDigits);
    this.bytes = this.scratch.fill(message, stamp);
    this.lane.send(path, this);
  }

  onSent(sentNs: number): void {
    this.call.noteSent(sentNs, this.options.onSent);
  }

  cancel(failure: Failure): void {
    if (!this.call.isActive) return;
    this.lane.cancel(this);
    this.scratch = new StampScratch();
    this.fail(failure);
  }

  /** @param beganNs start of handling this response, one of several that the connection may read at once */
  receive(received: StreamedResponse, bytes: Uint8Array, connection: Http2Connection, beganNs: number): void {
    const call = this.call;
    const response = this.inspect(received, bytes);
    call.decodeNs += nowNs() - beganNs;
    const isOver = isLastResponse(response);
    if (isOver) this.lane.removeFinished(this);
    // Responses from one read get different times, except the first: genai-perf divides by the time between responses.
    const { readNs, handledNs } = connection;
    const atNs = readNs === this.lastReceivedNs ? readNs + beganNs - handledNs : readNs;
    this.lastReceivedNs = readNs;
    // The next read overwrites a view, unless the message had a buffer of its own.
    const { bodyStart, bodyEnd } = response;
    const kept = this.keeps ? this.lane.own(bytes, bodyStart, bodyEnd) : undefined;
    addResponse(call, response, atNs, kept);
    const excess = concludeResponse(call, isOver, this.options);
    if (excess !== undefined) this.cancel(excess);
  }

  fail(failure: Failure): void {
    this.call.failNow(failure, this.options.onDone);
  }

  failIfSilentSince(deadlineNs: number): boolean {
    const call = this.call;
    // The server's time for the response begins when it has accepted the whole request.
    if (!call.isActive || Math.max(this.lastReceivedNs, call.sendEndNs) > deadlineNs) return false;
    if (call.isSending && this.lane.acceptedNs() > deadlineNs) return false;
    this.lane.forget(this);
    // The bytes may still wait for flow control: the next request must not overwrite them.
    this.scratch = new StampScratch();
    this.fail(
      silentFor(this.options.stallTimeoutNs, this.lane.strayIdSince(Math.max(this.lastReceivedNs, call.sendStartNs))),
    );
    return true;
  }

  /** Returns the response, with a failure when it is not valid. */
  private inspect(response: StreamedResponse, bytes: Uint8Array): StreamedResponse {
    const { call, check } = this;
    const { bodyStart, bodyEnd, failure, isEmpty } = response;
    if (!call.isChecked || check === undefined || isEmpty || failure !== undefined) return response;
    const fault = check.whole(bytes, bodyStart, bodyEnd, call);
    return fault === undefined ? response : { ...response, failure: unreadable(fault.reason) };
  }
}
