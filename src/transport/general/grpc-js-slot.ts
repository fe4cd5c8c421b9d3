import type { Client, ClientUnaryCall, Metadata, ServiceError } from "@grpc/grpc-js";
import { nowNs } from "../../runtime/clock.ts";
import type { Call } from "../call.ts";
import type { ClientOptions } from "../client.ts";
import { type Failure, failureOfReading, silentFor } from "../failure.ts";
import type { Header, WireRequest } from "../request.ts";
import {
  addResponse,
  concludeResponse,
  excessOf,
  expectResponses,
  isLastResponse,
  type StreamedResponse,
} from "../streamed-responses.ts";
import { sameBytes, toFailure, toHeaders } from "./grpc-js-calls.ts";
import type { JsLane } from "./grpc-js-lane.ts";

const latin1 = new TextDecoder("latin1");

/** A grpc-js slot: one unary call at a time, or one message at a time on its lane's stream. */
export class JsSlot {
  private readonly call: Call;
  readonly channel: Client;
  private readonly lane: JsLane | undefined;
  readonly metadataWith: (headers: readonly Header[]) => Metadata;
  readonly options: ClientOptions;
  private id = "";
  /** Time of the latest response, or of sending. */
  private lastReceivedNs = 0;
  private current: ClientUnaryCall | undefined;

  /** @param lane the lane's stream; undefined for unary calls */
  constructor(
    call: Call,
    lane: JsLane | undefined,
    { channel, metadataWith, options }: Pick<JsSlot, "channel" | "metadataWith" | "options">,
  ) {
    this.call = call;
    this.channel = channel;
    this.lane = lane;
    this.metadataWith = metadataWith;
    this.options = options;
  }

  send(path: string, request: WireRequest, stamp: Uint8Array | undefined): void {
    const call = this.call;
    call.begin();
    if (this.lane !== undefined) expectResponses(call);
    const message = Buffer.from(request.payload);
    if (stamp !== undefined && request.stampPlace !== undefined) message.set(stamp, request.stampPlace.offset);
    this.id = stamp === undefined ? "" : latin1.decode(stamp.subarray(0, request.stampPlace?.idDigits ?? 0));
    call.sendStartNs = nowNs();
    this.lastReceivedNs = call.sendStartNs;
    if (this.lane === undefined) this.sendUnary(path, message, this.metadataWith(request.headers));
    else this.lane.send(path, this.id, message, this);
    call.sendEndNs = nowNs();
  }

  finish(body: Uint8Array, readNs: number): void {
    const call = this.call;
    if (!call.isActive) return;
    call.firstByteNs = readNs;
    call.endNs = readNs;
    if (this.keepsBodies) call.keepBody(body.slice());
    const excess = excessOf(call, this.options.maxResponseBytes);
    if (excess !== undefined) call.failure = failureOfReading(excess);
    call.isActive = false;
    this.options.onDone(call);
  }

  receive(response: StreamedResponse, bytes: Uint8Array, readNs: number): void {
    const call = this.call;
    if (!call.isActive) return;
    this.lastReceivedNs = readNs;
    const kept = this.keepsBodies ? bytes.slice(response.bodyStart, response.bodyEnd) : undefined;
    addResponse(call, response, readNs, kept);
    const excess = concludeResponse(call, isLastResponse(response), this.options);
    if (excess !== undefined) this.cancel(excess);
  }

  fail(failure: Failure): void {
    this.call.failNow(failure, this.options.onDone);
  }

  cancel(failure: Failure): void {
    if (!this.call.isActive) return;
    this.lane?.cancel(this.id);
    this.cancelCurrent();
    this.fail(failure);
  }

  failIfSilentSince(deadlineNs: number): void {
    if (!this.call.isActive || this.lastReceivedNs > deadlineNs) return;
    this.lane?.forget(this.id);
    this.cancelCurrent();
    this.fail(silentFor(this.options.stallTimeoutNs));
  }

  /** Responses are checked after the request, so a check needs the body too. */
  private get keepsBodies(): boolean {
    return this.options.responses.keepBodies || this.options.responses.createCheck !== undefined;
  }

  private cancelCurrent(): void {
    const { current } = this;
    // The callback of the call still runs, perhaps during the slot's next request.
    this.current = undefined;
    current?.cancel();
  }

  private sendUnary(path: string, message: Buffer, metadata: Metadata): void {
    const started = this.channel.makeUnaryRequest(
      path,
      sameBytes,
      sameBytes,
      message,
      metadata,
      (error: ServiceError | null, value?: Buffer) => {
        if (started !== this.current) return;
        if (error !== null) this.fail(toFailure(error.code, error.details, this.options.maxResponseBytes));
        else this.finish(new Uint8Array(value ?? Buffer.alloc(0)), nowNs());
      },
    );
    this.current = started;
    const { onMetadata } = this.options;
    if (onMetadata === undefined) return;
    started.on("metadata", (headers) => onMetadata(this.call, toHeaders(headers), false));
    started.on("status", ({ metadata }) => onMetadata(this.call, toHeaders(metadata), true));
  }
}
