import {
  type Client,
  type ClientDuplexStream,
  status as grpcStatus,
  type Metadata,
  type StatusObject,
} from "@grpc/grpc-js";
import { nowNs } from "../../runtime/clock.ts";
import { type Failure, failureOfReading } from "../failure.ts";
import { isLastResponse, type ReadStreamed, type StreamedResponse } from "../streamed-responses.ts";
import { sameBytes, toFailure } from "./grpc-js-calls.ts";

/** A request with pending responses. */
interface WaitingRequest {
  receive(response: StreamedResponse, bytes: Uint8Array, readNs: number): void;
  fail(failure: Failure): void;
}

/** The grpc-js stream of one lane, which carries the requests of all the lane's slots. */
export class JsLane {
  private readonly channel: Client;
  private readonly metadata: Metadata;
  private readonly readStreamed: ReadStreamed;
  private readonly active = new Map<string, WaitingRequest>();
  private readonly maxResponseBytes: number;
  private stream: ClientDuplexStream<Buffer, Buffer> | undefined;

  constructor(channel: Client, metadata: Metadata, readStreamed: ReadStreamed, maxResponseBytes: number) {
    this.maxResponseBytes = maxResponseBytes;
    this.channel = channel;
    this.metadata = metadata;
    this.readStreamed = readStreamed;
  }

  send(path: string, id: string, message: Buffer, slot: WaitingRequest): void {
    this.active.set(id, slot);
    this.stream ??= this.open(path);
    this.stream.write(message);
  }

  forget(id: string): void {
    this.active.delete(id);
  }

  /** Cancels a request. Like Rampart's own client, cancels the stream only when it carries no other request. */
  cancel(id: string): void {
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
    const stream = this.channel.makeBidiStreamRequest(path, sameBytes, sameBytes, this.metadata);
    // Ignore later events of a cancelled stream.
    stream.on("data", (message: Buffer) => stream === this.stream && this.received(message));
    stream.on("error", () => {});
    stream.on("status", (status: StatusObject) => stream === this.stream && this.ended(status));
    return stream;
  }

  private received(message: Buffer): void {
    const readNs = nowNs();
    // A plain Uint8Array, because `Buffer.slice` would share memory where `Uint8Array.slice` copies.
    const bytes = new Uint8Array(message.buffer, message.byteOffset, message.length);
    let response: StreamedResponse;
    try {
      response = this.readStreamed(bytes, 0, bytes.length);
    } catch (error) {
      this.abandon(failureOfReading(error));
      return;
    }
    const id = response.id === "" ? (this.active.keys().next().value ?? "") : response.id;
    const slot = this.active.get(id);
    if (isLastResponse(response)) this.active.delete(id);
    slot?.receive(response, bytes, readNs);
  }

  /** Cancels a stream whose data cannot be read. */
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
        : toFailure(status.code, status.details, this.maxResponseBytes);
    this.failAll(failure);
  }

  private failAll(failure: Failure): void {
    const slots = [...this.active.values()];
    this.active.clear();
    for (const slot of slots) slot.fail(failure);
  }
}
