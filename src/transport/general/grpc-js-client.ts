import {
  Client,
  type ClientDuplexStream,
  type ClientUnaryCall,
  credentials,
  status as grpcStatus,
  Metadata,
  type ServiceError,
  type StatusObject,
} from "@grpc/grpc-js";
import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { verifyOptions } from "../../runtime/tls.ts";
import { Call, type ClientOptions, type LoadClient } from "../client.ts";
import { describeConnectError, type Failure, messageOfProtocol } from "../failure.ts";
import { lineIndexOf } from "../grpc/lanes.ts";
import type { Endpoint, WireRequest } from "../request.ts";
import { StallWatch } from "../stall-watch.ts";
import { addResponse, expectResponses, type ReadStreamed, type StreamedResponse } from "../streamed-responses.ts";
import { USER_AGENT } from "../user-agent.ts";

const MAX_MESSAGE_BYTES = -1; // no limit, as the own client

/** gRPC's numbers of them. */
const ALGORITHMS = { identity: 0, deflate: 1, gzip: 2 } as const;

const identity = (bytes: Buffer): Buffer => bytes;
const latin1 = new TextDecoder("latin1");

/** gRPC through @grpc/grpc-js: the general client, to compare the own one with and for what that does not cover. */
export class GrpcJsClient implements LoadClient {
  readonly calls: Call[] = [];
  private readonly endpoint: Endpoint;
  private readonly options: ClientOptions;
  private readonly readStreamed: ReadStreamed | undefined;
  private readonly channels: Client[] = [];
  private readonly lanes: JsLane[] = [];
  private readonly slots: JsSlot[] = [];
  private readonly metadata = new Metadata();
  private readonly stallWatch: StallWatch;
  private isClosed = false;

  /** @param readStreamed given: one bidirectional stream per lane instead of unary calls */
  constructor(endpoint: Endpoint, options: ClientOptions, readStreamed: ReadStreamed | undefined) {
    this.endpoint = endpoint;
    this.options = options;
    this.readStreamed = readStreamed;
    for (const [name, value] of endpoint.headers) this.metadata.add(name, value);
    this.stallWatch = new StallWatch(options.stallTimeoutNs, (deadlineNs) => {
      for (const slot of this.slots) slot.failIfSilentSince(deadlineNs);
    });
  }

  /** grpc-js does not tell of reconnections: the channels. */
  get connectionCount(): number {
    return this.channels.length;
  }

  async reserve(count: number): Promise<void> {
    this.stallWatch.start();
    const opening: Promise<void>[] = [];
    while (this.slots.length < count) {
      const index = this.slots.length;
      const channelIndex = lineIndexOf(index, this.options.laneCount);
      let channel = this.channels[channelIndex];
      if (channel === undefined) {
        channel = createChannel(this.endpoint);
        this.channels[channelIndex] = channel;
        opening.push(waitForReady(channel, this.options.stallTimeoutNs / 1e6));
      }
      const call = new Call(index);
      this.calls.push(call);
      this.slots.push(new JsSlot(call, channel, this.laneOf(index, channel), this.metadata, this.options));
    }
    await Promise.all(opening);
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    (this.slots[slot] as JsSlot).send(`${this.endpoint.pathPrefix}${request.path}`, request, stamp);
  }

  flush(): void {}

  cancel(slot: number, failure: Failure): void {
    this.slots[slot]?.cancel(failure);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stallWatch.stop();
    const failure: Failure = { kind: "aborted", message: "still in flight when the run ended" };
    for (const lane of this.lanes) lane.end();
    for (const slot of this.slots) slot.fail(failure);
    for (const channel of this.channels) channel.close();
  }

  private laneOf(slot: number, channel: Client): JsLane | undefined {
    if (this.readStreamed === undefined) return undefined;
    const index = slot % this.options.laneCount;
    let lane = this.lanes[index];
    if (lane === undefined) {
      lane = new JsLane(channel, this.metadata, this.readStreamed);
      this.lanes[index] = lane;
    }
    return lane;
  }
}

function createChannel(endpoint: Endpoint): Client {
  const { tls } = endpoint;
  const secure =
    tls === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(toBuffer(tls.caPem), toBuffer(tls.keyPem), toBuffer(tls.certPem), {
          ...verifyOptions(tls),
        });
  const host = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
  return new Client(`${host}:${endpoint.port}`, secure, {
    "grpc.default_authority": endpoint.authority,
    "grpc.primary_user_agent": USER_AGENT,
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    // Each channel has a connection of its own, as the own client's lines have.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.default_compression_algorithm": ALGORITHMS[endpoint.compression ?? "identity"],
  });
}

function toBuffer(pem: string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}

/** Resolves when the channel is connected or has failed to; the first call tells which. */
function waitForReady(channel: Client, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => channel.waitForReady(Date.now() + Math.min(timeoutMs, 1000), () => resolve()));
}

/** The stream of one lane. */
class JsLane {
  private readonly channel: Client;
  private readonly metadata: Metadata;
  private readonly readStreamed: ReadStreamed;
  private readonly active = new Map<string, JsSlot>();
  private stream: ClientDuplexStream<Buffer, Buffer> | undefined;

  constructor(channel: Client, metadata: Metadata, readStreamed: ReadStreamed) {
    this.channel = channel;
    this.metadata = metadata;
    this.readStreamed = readStreamed;
  }

  send(path: string, id: string, message: Buffer, slot: JsSlot): void {
    this.active.set(id, slot);
    this.stream ??= this.open(path);
    this.stream.write(message);
  }

  forget(id: string): void {
    this.active.delete(id);
  }

  /** As the own client: the stream is taken back as far as no other request is under way on it. */
  giveUp(id: string): void {
    this.active.delete(id);
    if (this.active.size > 0) return;
    const stream = this.stream;
    this.stream = undefined;
    stream?.cancel();
  }

  end(): void {
    this.stream?.end();
  }

  private open(path: string): ClientDuplexStream<Buffer, Buffer> {
    const stream = this.channel.makeBidiStreamRequest(path, identity, identity, this.metadata);
    // What a stream that was given up still brings is not for its successor.
    stream.on("data", (message: Buffer) => stream === this.stream && this.received(message));
    stream.on("error", () => {});
    stream.on("status", (status: StatusObject) => stream === this.stream && this.ended(status));
    return stream;
  }

  private received(message: Buffer): void {
    const readNs = nowNs();
    let response: StreamedResponse;
    try {
      // A plain Uint8Array, because `Buffer.slice` would share memory where `Uint8Array.slice` copies.
      response = this.readStreamed(new Uint8Array(message.buffer, message.byteOffset, message.length));
    } catch (error) {
      this.abandon({ kind: "protocol", message: messageOfProtocol(error) });
      return;
    }
    const id = response.id === "" ? (this.active.keys().next().value ?? "") : response.id;
    const slot = this.active.get(id);
    const isOver = response.isFinal || response.failure !== undefined;
    if (isOver) this.active.delete(id);
    slot?.receive(response, readNs, isOver);
  }

  /** Gives up a stream that no longer makes sense. */
  private abandon(failure: Failure): void {
    const stream = this.stream;
    this.stream = undefined;
    stream?.cancel();
    this.failAll(failure);
  }

  private ended(status: StatusObject): void {
    this.stream = undefined;
    const failure: Failure =
      status.code === grpcStatus.OK
        ? { kind: "closed", message: "server ended the stream" }
        : toFailure(status.code, status.details);
    this.failAll(failure);
  }

  private failAll(failure: Failure): void {
    const slots = [...this.active.values()];
    this.active.clear();
    for (const slot of slots) slot.fail(failure);
  }
}

class JsSlot {
  private readonly call: Call;
  private readonly channel: Client;
  private readonly lane: JsLane | undefined;
  private readonly metadata: Metadata;
  private readonly options: ClientOptions;
  private id = "";
  /** When a response last came, or the request was sent. */
  private heardNs = 0;
  private current: ClientUnaryCall | undefined;

  constructor(call: Call, channel: Client, lane: JsLane | undefined, metadata: Metadata, options: ClientOptions) {
    this.call = call;
    this.channel = channel;
    this.lane = lane;
    this.metadata = metadata;
    this.options = options;
  }

  send(path: string, request: WireRequest, stamp: Uint8Array | undefined): void {
    const call = this.call;
    call.failure = undefined;
    call.body = undefined;
    call.isActive = true;
    call.firstByteNs = 0;
    if (this.lane !== undefined) expectResponses(call);
    const message = Buffer.from(request.payload);
    if (stamp !== undefined && request.stampPlace !== undefined) message.set(stamp, request.stampPlace.offset);
    this.id = stamp === undefined ? "" : latin1.decode(stamp.subarray(0, request.stampPlace?.idDigits ?? 0));
    call.sendStartNs = nowNs();
    this.heardNs = call.sendStartNs;
    if (this.lane === undefined) this.sendUnary(path, message);
    else this.lane.send(path, this.id, message, this);
    call.sendEndNs = nowNs();
  }

  finish(body: Uint8Array, readNs: number): void {
    const call = this.call;
    if (!call.isActive) return;
    call.firstByteNs = readNs;
    call.endNs = readNs;
    call.body = this.options.keepBodies ? body.slice() : undefined;
    call.isActive = false;
    this.options.onDone(call);
  }

  receive(response: StreamedResponse, readNs: number, isOver: boolean): void {
    const call = this.call;
    if (!call.isActive) return;
    this.heardNs = readNs;
    addResponse(call, response, readNs, this.options.keepBodies);
    if (!isOver) {
      this.options.onResponse?.(call);
      return;
    }
    call.isActive = false;
    this.options.onDone(call);
  }

  fail(failure: Failure): void {
    const call = this.call;
    if (!call.isActive) return;
    call.endNs = nowNs();
    call.firstByteNs = call.endNs;
    call.failure = failure;
    call.isActive = false;
    this.options.onDone(call);
  }

  cancel(failure: Failure): void {
    if (!this.call.isActive) return;
    this.lane?.giveUp(this.id);
    this.cancelCurrent();
    this.fail(failure);
  }

  failIfSilentSince(deadlineNs: number): void {
    if (!this.call.isActive || this.heardNs > deadlineNs) return;
    this.lane?.forget(this.id);
    this.cancelCurrent();
    this.fail({ kind: "stalled", message: `no byte received for ${formatDurationNs(this.options.stallTimeoutNs)}` });
  }

  private cancelCurrent(): void {
    const { current } = this;
    // It still calls back, when the slot may carry its next request.
    this.current = undefined;
    current?.cancel();
  }

  private sendUnary(path: string, message: Buffer): void {
    const started = this.channel.makeUnaryRequest(
      path,
      identity,
      identity,
      message,
      this.metadata,
      (error: ServiceError | null, value?: Buffer) => {
        if (started !== this.current) return;
        if (error !== null) this.fail(toFailure(error.code, error.details));
        else this.finish(new Uint8Array(value ?? Buffer.alloc(0)), nowNs());
      },
    );
    this.current = started;
  }
}

function toFailure(code: number, details: string): Failure {
  if (
    code === grpcStatus.UNAVAILABLE &&
    /No connection established|ECONNREFUSED|ENOTFOUND|Name resolution/.test(details)
  ) {
    return { kind: "connect", message: describeConnectError(new Error(details)) };
  }
  return { kind: "grpc", status: code, message: details === "" ? (grpcStatus[code] ?? String(code)) : details };
}
