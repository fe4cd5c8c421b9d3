import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { Call, type ClientOptions, type LoadClient } from "../client.ts";
import { type Failure, messageOfProtocol } from "../failure.ts";
import type { Http2Connection } from "../http2/connection.ts";
import type { SendTicket, StreamFailure, StreamSink } from "../http2/stream.ts";
import type { Endpoint, Header, WireRequest } from "../request.ts";
import { StallWatch } from "../stall-watch.ts";
import { encodeGrpcMessage, type GrpcMessage, IdScratch } from "./encode.ts";
import { Line, type LineUser, lineIndexOf } from "./line.ts";
import { MessageReader, type MessageSink } from "./messages.ts";
import { type GrpcHead, readHead, toFailure } from "./response-head.ts";

/** What a service reads from one message of a stream. */
export interface StreamedResponse {
  /** The request's id, as it was sent; empty when the message does not say. */
  readonly id: string;
  readonly failure: Failure | undefined;
  /** The response's own message, without the stream's wrapping. */
  readonly body: Uint8Array;
}

/** Reads one message of a stream. Throws `ProtocolError` when it cannot. */
export type ReadStreamed = (message: Uint8Array) => StreamedResponse;

/** The gRPC client of the measured path for bidirectional streams: one long stream per lane, answers matched by request id. */
export class GrpcStreamClient implements LoadClient {
  readonly calls: Call[] = [];
  private readonly endpoint: Endpoint;
  private readonly options: ClientOptions;
  private readonly readStreamed: ReadStreamed;
  private readonly slots: StreamSlot[] = [];
  private readonly lanes: LaneStream[] = [];
  private readonly lines: Line[] = [];
  private readonly encoded = new Map<WireRequest, GrpcMessage>();
  private readonly stallWatch: StallWatch;
  private isClosed = false;

  constructor(endpoint: Endpoint, options: ClientOptions, readStreamed: ReadStreamed) {
    this.endpoint = endpoint;
    this.options = options;
    this.readStreamed = readStreamed;
    this.stallWatch = new StallWatch(options.stallTimeoutNs, (deadlineNs) => {
      for (const slot of this.slots) slot.failIfSilentSince(deadlineNs);
      const message = `no byte received for ${formatDurationNs(options.stallTimeoutNs)}`;
      for (const line of this.lines) line.failIfUnanswered(deadlineNs, { kind: "stalled", message });
    });
  }

  get connectionCount(): number {
    return this.lines.reduce((sum, line) => sum + line.connectionCount, 0);
  }

  async reserve(count: number): Promise<void> {
    const opening: Promise<void>[] = [];
    while (this.slots.length < count) {
      const index = this.slots.length;
      const call = new Call(index);
      this.calls.push(call);
      this.slots.push(new StreamSlot(call, this.laneOf(index, opening), this.options));
    }
    this.stallWatch.start();
    await Promise.all(opening);
  }

  send(slot: number, request: WireRequest, id: Uint8Array | undefined): void {
    let message = this.encoded.get(request);
    if (message === undefined) {
      message = encodeGrpcMessage(request);
      this.encoded.set(request, message);
    }
    if (id === undefined) throw new Error("requests on a stream need an id");
    (this.slots[slot] as StreamSlot).send(request.path, message, id);
  }

  flush(): void {
    for (const line of this.lines) line.flush();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stallWatch.stop();
    const failure: Failure = { kind: "aborted", message: "still in flight when the run ended" };
    for (const lane of this.lanes) lane.end();
    for (const line of this.lines) {
      line.flush();
      line.close(failure);
    }
    for (const lane of this.lanes) lane.failAll(failure);
  }

  private laneOf(slot: number, opening: Promise<void>[]): LaneStream {
    const laneIndex = slot % this.options.laneCount;
    let lane = this.lanes[laneIndex];
    if (lane === undefined) {
      const lineIndex = lineIndexOf(slot, this.options.laneCount);
      let line = this.lines[lineIndex];
      if (line === undefined) {
        line = new Line(this.endpoint);
        this.lines[lineIndex] = line;
        opening.push(line.connect().ready);
      }
      lane = new LaneStream(line, this.readStreamed, this.options);
      this.lanes[laneIndex] = lane;
    }
    return lane;
  }
}

/** The stream of one lane; opened with its first request and again when the server ended it. */
class LaneStream implements StreamSink, MessageSink, LineUser {
  path = "";
  private readonly line: Line;
  private readonly readStreamed: ReadStreamed;
  private readonly options: ClientOptions;
  private readonly reader = new MessageReader(this, true);
  /** Requests under way, oldest first. */
  private readonly active = new Map<string, StreamSlot>();
  private readonly unsent: StreamSlot[] = [];
  private connection: Http2Connection | undefined;
  private streamId = 0;
  private isOpen = false;
  private isOpening = false;
  private head: GrpcHead | undefined;

  constructor(line: Line, readStreamed: ReadStreamed, options: ClientOptions) {
    this.line = line;
    this.readStreamed = readStreamed;
    this.options = options;
  }

  send(path: string, slot: StreamSlot): void {
    this.path = path;
    this.active.set(slot.id, slot);
    if (this.isOpen) {
      (this.connection as Http2Connection).sendData(this.streamId, slot.bytes, false, slot);
      return;
    }
    this.unsent.push(slot);
    if (this.isOpening) return;
    this.isOpening = true;
    this.line.begin(this);
  }

  open(connection: Http2Connection, block: Uint8Array): void {
    this.connection = connection;
    this.reader.reset(true);
    this.head = undefined;
    this.isOpening = false;
    this.isOpen = true;
    this.streamId = connection.openStream(this, block);
    for (const slot of this.unsent) connection.sendData(this.streamId, slot.bytes, false, slot);
    this.unsent.length = 0;
  }

  /** Half-closes the stream: no more requests will come. */
  end(): void {
    if (this.isOpen) this.connection?.sendData(this.streamId, new Uint8Array(0), true, undefined);
  }

  forget(slot: StreamSlot): void {
    this.active.delete(slot.id);
    const index = this.unsent.indexOf(slot);
    if (index >= 0) this.unsent.splice(index, 1);
  }

  failAll(failure: Failure): void {
    const slots = [...this.active.values()];
    this.active.clear();
    this.unsent.length = 0;
    for (const slot of slots) slot.fail(failure);
  }

  onHeaders(headers: readonly Header[], isLast: boolean): void {
    try {
      const head = readHead(headers);
      if (!isLast) {
        this.head = head;
        return;
      }
      this.isOpen = false;
      const outcome = head.grpcStatus >= 0 ? head : (this.head ?? head);
      this.failAll(toFailure(outcome) ?? { kind: "closed", message: "server ended the stream" });
    } catch (error) {
      this.abandon({ kind: "protocol", message: messageOfProtocol(error) });
    }
  }

  onData(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    try {
      this.reader.feed(bytes, start, end);
    } catch (error) {
      this.abandon({ kind: "protocol", message: messageOfProtocol(error) });
      return;
    }
    if (!isLast) return;
    this.isOpen = false;
    this.failAll({ kind: "protocol", message: "stream ended without trailers" });
  }

  onMessage(bytes: Uint8Array, start: number, end: number): void {
    const readNs = (this.connection as Http2Connection).readNs;
    const beganNs = nowNs();
    const response = this.readStreamed(bytes.subarray(start, end));
    const decodeNs = nowNs() - beganNs;
    // An error without an id can only belong to the request that has waited longest.
    const id = response.id === "" ? (this.active.keys().next().value ?? "") : response.id;
    const slot = this.active.get(id);
    if (slot === undefined) return;
    this.active.delete(id);
    slot.finish(response.failure, this.options.keepBodies ? response.body.slice() : undefined, readNs, decodeNs);
  }

  onFailed(problem: StreamFailure): void {
    this.isOpen = false;
    this.failAll(problem.failure);
  }

  private abandon(failure: Failure): void {
    this.isOpen = false;
    this.connection?.cancelStream(this.streamId);
    this.failAll(failure);
  }
}

const decoder = new TextDecoder("latin1");

class StreamSlot implements SendTicket {
  id = "";
  bytes: Uint8Array = new Uint8Array(0);
  private readonly call: Call;
  private readonly lane: LaneStream;
  private readonly options: ClientOptions;
  private readonly scratch = new IdScratch();

  constructor(call: Call, lane: LaneStream, options: ClientOptions) {
    this.call = call;
    this.lane = lane;
    this.options = options;
  }

  send(path: string, message: GrpcMessage, id: Uint8Array): void {
    const call = this.call;
    call.failure = undefined;
    call.body = undefined;
    call.decodeNs = 0;
    call.isActive = true;
    call.firstByteNs = 0;
    call.sendStartNs = nowNs();
    call.sendEndNs = call.sendStartNs;
    this.id = decoder.decode(id);
    this.bytes = this.scratch.fill(message, id);
    this.lane.send(path, this);
  }

  onSent(sentNs: number): void {
    this.call.sendEndNs = sentNs;
  }

  finish(failure: Failure | undefined, body: Uint8Array | undefined, readNs: number, decodeNs: number): void {
    const call = this.call;
    call.firstByteNs = readNs;
    call.endNs = readNs;
    call.decodeNs = decodeNs;
    call.body = body;
    call.failure = failure;
    call.isActive = false;
    this.options.onDone(call);
  }

  fail(failure: Failure): void {
    const call = this.call;
    if (!call.isActive) return;
    call.endNs = nowNs();
    if (call.firstByteNs === 0) call.firstByteNs = call.endNs;
    call.failure = failure;
    call.isActive = false;
    this.options.onDone(call);
  }

  failIfSilentSince(deadlineNs: number): void {
    const call = this.call;
    if (!call.isActive || call.sendStartNs > deadlineNs) return;
    this.lane.forget(this);
    this.fail({ kind: "stalled", message: `no byte received for ${formatDurationNs(this.options.stallTimeoutNs)}` });
  }
}
