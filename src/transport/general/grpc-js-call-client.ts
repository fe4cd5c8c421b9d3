import {
  type Client,
  type ClientDuplexStream,
  status as grpcStatus,
  type Metadata,
  type StatusObject,
} from "@grpc/grpc-js";
import { nowNs } from "../../runtime/clock.ts";
import type { Call } from "../call.ts";
import type { ClientOptions } from "../client.ts";
import { type Failure, failureOfReading, silentFor } from "../failure.ts";
import { checkResponseCount, expectsOneResponse } from "../grpc/call-type.ts";
import { type Endpoint, type Header, stampedPayload, type WireRequest } from "../request.ts";
import { addMessage, excessOf, expectResponses } from "../streamed-responses.ts";
import { sameBytes, toFailure, toHeaders } from "./grpc-js-calls.ts";
import { GrpcJsClient, type GrpcJsSlot } from "./grpc-js-client.ts";

/** The client based on @grpc/grpc-js for calls with any number of messages each way. Each request is a separate call. */
export class GrpcJsCallClient extends GrpcJsClient {
  constructor(endpoint: Endpoint, options: ClientOptions) {
    super(endpoint, options, undefined);
  }

  protected override createSlot(call: Call, channel: Client): GrpcJsSlot {
    return new JsCallSlot(call, channel, (headers) => this.metadataWith(headers), this.options);
  }
}

type Stream = ClientDuplexStream<Buffer, Buffer>;

class JsCallSlot implements GrpcJsSlot {
  private readonly call: Call;
  private readonly channel: Client;
  private readonly metadataWith: (headers: readonly Header[]) => Metadata;
  private readonly options: ClientOptions;
  private request: WireRequest | undefined;
  private stream: Stream | undefined;
  private messages: readonly Uint8Array[] = [];
  private sentCount = 0;
  /** Time when the call last received something, or grpc-js accepted a message. */
  private lastProgressNs = 0;
  /** Set when the status has arrived, perhaps before the last messages were read. */
  private status: StatusObject | undefined;
  private hasReadAll = false;

  constructor(
    call: Call,
    channel: Client,
    metadataWith: (headers: readonly Header[]) => Metadata,
    options: ClientOptions,
  ) {
    this.call = call;
    this.channel = channel;
    this.metadataWith = metadataWith;
    this.options = options;
  }

  send(path: string, request: WireRequest, stamp: Uint8Array | undefined): void {
    const { call } = this;
    call.begin();
    expectResponses(call);
    this.request = request;
    this.messages = request.messages ?? [stampedPayload(request, stamp)];
    this.sentCount = 0;
    this.status = undefined;
    this.hasReadAll = false;
    call.sendStartNs = nowNs();
    this.lastProgressNs = call.sendStartNs;
    this.open(path, request.headers);
    this.sendUntil(request.pacing === "after-response" ? 1 : this.messages.length);
    call.sendEndNs = nowNs();
  }

  cancel(failure: Failure): void {
    this.fail(failure);
  }

  fail(failure: Failure): void {
    const { call } = this;
    if (!call.isActive) return;
    const { stream } = this;
    // Ignore later events of the stream.
    this.stream = undefined;
    stream?.cancel();
    call.fail(failure, nowNs());
    this.options.onDone(call);
  }

  failIfSilentSince(deadlineNs: number): void {
    if (!this.call.isActive || this.lastProgressNs > deadlineNs) return;
    this.cancel(silentFor(this.options.stallTimeoutNs));
  }

  /** All types of calls are the same on the wire. */
  private open(path: string, headers: readonly Header[]): void {
    const { onMetadata } = this.options;
    const stream: Stream = this.channel.makeBidiStreamRequest(path, sameBytes, sameBytes, this.metadataWith(headers));
    this.stream = stream;
    stream.on("data", (message: Buffer) => stream === this.stream && this.received(message));
    stream.on("error", () => {});
    stream.on("metadata", (received: Metadata) => {
      if (stream !== this.stream) return;
      this.touch();
      onMetadata?.(this.call, toHeaders(received), false);
    });
    stream.on("status", (status: StatusObject) => {
      if (stream !== this.stream) return;
      onMetadata?.(this.call, toHeaders(status.metadata), true);
      this.status = status;
      this.endIfComplete();
    });
    stream.on("end", () => {
      if (stream !== this.stream) return;
      this.hasReadAll = true;
      this.endIfComplete();
    });
  }

  /** Sends messages up to this number. The last message ends the sending side. */
  private sendUntil(count: number): void {
    const stream = this.stream as Stream;
    const end = Math.min(count, this.messages.length);
    while (this.sentCount < end) {
      stream.write(toBuffer(this.messages[this.sentCount++] as Uint8Array), () => {
        this.lastProgressNs = nowNs();
      });
    }
    if (end === this.messages.length && !stream.writableEnded) stream.end();
  }

  private received(message: Buffer): void {
    const { call, options } = this;
    const stream = this.stream as Stream;
    const readNs = nowNs();
    this.touch();
    // A plain Uint8Array, because `Buffer.slice` would share memory where `Uint8Array.slice` copies.
    const bytes = new Uint8Array(message.buffer, message.byteOffset, message.length);
    addMessage(call, bytes.length, readNs, this.keepsBodies ? bytes.slice() : undefined);
    const excess = excessOf(call, options.maxResponseBytes);
    if (excess !== undefined) {
      this.cancel(failureOfReading(excess));
      return;
    }
    if (expectsOneResponse(this.request as WireRequest)) return;
    if (call.messageCount === 1) call.firstByteNs = readNs;
    options.onResponse?.(call);
    // The callback may have cancelled the call.
    if (stream === this.stream) this.sendUntil(call.messageCount + 1);
  }

  private endIfComplete(): void {
    const { call, status, options } = this;
    if (status === undefined || !this.hasReadAll) return;
    const expectsOne = expectsOneResponse(this.request as WireRequest);
    const failure =
      status.code === grpcStatus.OK
        ? expectsOne && checkResponseCount(call.messageCount)
        : toFailure(status.code, status.details, options.maxResponseBytes);
    if (failure) {
      this.fail(failure);
      return;
    }
    this.stream = undefined;
    const endNs = nowNs();
    if (call.firstByteNs === 0) call.firstByteNs = endNs;
    call.endNs = !expectsOne && call.messageCount > 0 ? call.lastMessageNs : endNs;
    call.lastMessageNs = endNs;
    call.isActive = false;
    options.onDone(call);
  }

  private touch(): void {
    this.lastProgressNs = nowNs();
    if (this.call.firstByteNs === 0) this.call.firstByteNs = this.lastProgressNs;
  }

  /** Responses are checked after the request, so a check needs the messages too. */
  private get keepsBodies(): boolean {
    return this.options.responses.keepBodies || this.options.responses.createCheck !== undefined;
  }
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
