import { formatDurationNs } from "../../plan/units.ts";
import { NO_BYTES } from "../../runtime/bytes.ts";
import { nowNs } from "../../runtime/clock.ts";
import { Call } from "../call.ts";
import type { ClientOptions, LoadClient } from "../client.ts";
import { type Failure, failureOfReading, tooLarge } from "../failure.ts";
import type { WireRequest } from "../request.ts";
import { type ResponseCheck, unreadable } from "../response-check.ts";
import { StallWatch } from "../stall-watch.ts";
import {
  addResponse,
  concludeResponse,
  excessOf,
  expectOneResponse,
  expectResponses,
  isLastResponse,
  type StreamedResponse,
} from "../streamed-responses.ts";
import { FROM_SERVER, type Frame, RESPONSE_FLAGS, RESPONSE_HEAD_BYTES, TO_SERVER } from "./frames.ts";
import type { CallReceiver, ServerProcess } from "./server-process.ts";

const encoder = new TextEncoder();
/** Requests with such paths are inference requests, all others are queries. */
const INFERENCE = "/inference.";

/**
 * Client of a server in another process, without a network. A request's times are taken in that process: right before and right
 * after the library accepts the request, and when the library has a response. No time includes the transfer between the processes.
 */
export class InProcessClient implements LoadClient {
  readonly calls: Call[] = [];
  readonly connectionCount = 0;
  readonly resendCount = 0;
  private readonly slots: InProcessSlot[] = [];
  readonly server: ServerProcess;
  readonly options: ClientOptions;
  readonly offsetNs: () => number;
  private readonly stallWatch: StallWatch;
  readonly isStreaming: boolean;

  /**
   * @param offsetNs returns the offset to add to the other process's monotonic nanoseconds to get those of `nowNs`
   * @param isStreaming whether requests may have any number of responses
   */
  constructor(server: ServerProcess, offsetNs: () => number, isStreaming: boolean, options: ClientOptions) {
    this.server = server;
    this.offsetNs = offsetNs;
    this.isStreaming = isStreaming;
    this.options = options;
    this.stallWatch = new StallWatch(options.stallTimeoutNs, (deadlineNs) => {
      for (const slot of this.slots) slot.failIfSilentSince(deadlineNs);
      // Failed slots may have sent their next request.
      this.flush();
    });
  }

  async reserve(count: number): Promise<void> {
    while (this.calls.length < count) {
      const call = new Call(this.calls.length);
      this.calls.push(call);
      this.slots.push(new InProcessSlot(call, this));
    }
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    this.stallWatch.start();
    (this.slots[slot] as InProcessSlot).send(request, stamp);
  }

  flush(): void {
    this.server.flush();
  }

  cancel(slot: number, failure: Failure): void {
    this.slots[slot]?.fail(failure);
    this.flush();
  }

  close(): void {
    this.stallWatch.stop();
    for (const slot of this.slots) slot.fail({ kind: "aborted", message: "the run was stopped" });
  }
}

/** The parts of a client that its slots share. */
type SlotOwner = Pick<InProcessClient, "server" | "options" | "offsetNs" | "isStreaming">;

/** A slot, with one request at a time. */
class InProcessSlot implements CallReceiver {
  private readonly call: Call;
  private readonly server: ServerProcess;
  private readonly options: ClientOptions;
  private readonly offsetNs: () => number;
  private readonly isStreaming: boolean;
  private check: ResponseCheck | undefined;
  private keeps = false;
  private id = 0;
  private lastReceivedNs = 0;
  /** Whether the only response had content, until the end that may follow it. */
  private hasContent = false;

  constructor(call: Call, { server, options, offsetNs, isStreaming }: SlotOwner) {
    this.call = call;
    this.server = server;
    this.options = options;
    this.offsetNs = offsetNs;
    this.isStreaming = isStreaming;
  }

  send(request: WireRequest, stamp: Uint8Array = NO_BYTES): void {
    const { call } = this;
    this.reset();
    if (!request.path.startsWith(INFERENCE)) {
      const { method, path, payload } = request;
      const query = JSON.stringify({ method, path, body: new TextDecoder().decode(payload) });
      this.id = this.server.startCall(this, TO_SERVER.query, encoder.encode(query));
      return;
    }
    if (this.isStreaming) expectResponses(call);
    else expectOneResponse(call);
    const template = new DataView(new ArrayBuffer(4));
    template.setUint32(0, this.server.templates.idOf(request), true);
    this.id = this.server.startCall(this, TO_SERVER.infer, new Uint8Array(template.buffer), stamp);
    if (request.isOnce === true) this.server.templates.forget(request);
  }

  onFrame({ type, body }: Frame): void {
    if (!this.call.isActive) return;
    if (type === FROM_SERVER.queryResult) this.receiveQueryResult(body);
    else this.receiveResponse(body);
  }

  onEnded(message: string): void {
    this.fail({ kind: "closed", message, isServerGone: true });
  }

  fail(failure: Failure): void {
    const { call } = this;
    if (!call.isActive) return;
    this.server.endCall(this.id);
    call.fail(failure, nowNs());
    this.options.onDone(call);
  }

  failIfSilentSince(deadlineNs: number): void {
    if (!this.call.isActive || this.lastReceivedNs > deadlineNs) return;
    const message = `no response for ${formatDurationNs(this.options.stallTimeoutNs)}`;
    this.fail({ kind: "stalled", message });
  }

  private reset(): void {
    const { call, options } = this;
    call.begin();
    call.isSending = false;
    this.keeps = options.responses.keepBodies;
    if (!this.keeps) this.check ??= options.responses.createCheck?.();
    call.isChecked = !this.keeps && this.check !== undefined;
    call.sendStartNs = nowNs();
    call.sendEndNs = call.sendStartNs;
    this.lastReceivedNs = call.sendStartNs;
    this.hasContent = false;
  }

  private receiveQueryResult(body: Uint8Array): void {
    const { call } = this;
    const content = body.slice(1);
    if (body[0] !== 1) call.failure = { kind: "http", message: "Triton's library refuses the query", status: 400 };
    call.body = content;
    this.end(nowNs());
  }

  private receiveResponse(frame: Uint8Array): void {
    const { call } = this;
    const beganNs = nowNs();
    this.lastReceivedNs = beganNs;
    const head = new DataView(frame.buffer, frame.byteOffset, RESPONSE_HEAD_BYTES);
    const flags = head.getUint8(0);
    const offsetNs = this.offsetNs();
    const sentNs = head.getFloat64(1, true);
    // 0: the library did not accept the request, so the times are this process's.
    if (sentNs > 0) call.sendStartNs = sentNs + offsetNs;
    // The library accepts the request in one call, which is part of the latency: nothing is sent.
    call.sendEndNs = call.sendStartNs;
    const atNs = sentNs > 0 ? head.getFloat64(9, true) + offsetNs : beganNs;
    const response: StreamedResponse = {
      id: "",
      failure: this.failureOf(frame, flags),
      isFinal: (flags & RESPONSE_FLAGS.final) !== 0,
      isEmpty: (flags & RESPONSE_FLAGS.empty) !== 0,
      bodyStart: RESPONSE_HEAD_BYTES,
      bodyEnd: frame.length,
    };
    call.decodeNs += nowNs() - beganNs;
    if (this.isStreaming) this.receiveStreamed(response, frame, atNs);
    else this.receiveOnly(response, frame, atNs);
  }

  /** Adds one of several responses. */
  private receiveStreamed(response: StreamedResponse, frame: Uint8Array, atNs: number): void {
    const isOver = isLastResponse(response);
    if (isOver) this.server.endCall(this.id);
    const kept = this.keeps ? frame.slice(response.bodyStart) : undefined;
    addResponse(this.call, response, atNs, kept);
    const excess = concludeResponse(this.call, isOver, this.options);
    if (excess !== undefined) this.fail(excess);
  }

  /** Ends a request with its response. The end of the request may arrive separately, later. */
  private receiveOnly(response: StreamedResponse, frame: Uint8Array, atNs: number): void {
    const { call } = this;
    const { isEmpty, isFinal } = response;
    if (isEmpty && !isFinal) return;
    if (isEmpty && !this.hasContent) call.failure = { kind: "model", message: "the model sent no response" };
    if (!isEmpty) {
      this.hasContent = true;
      call.failure = response.failure;
      if (frame.length - RESPONSE_HEAD_BYTES > this.options.maxResponseBytes)
        call.failure = tooLarge(this.options.maxResponseBytes);
      else if (this.keeps || call.failure !== undefined) call.keepBody(frame.slice(RESPONSE_HEAD_BYTES));
      const excess = excessOf(call, this.options.maxResponseBytes);
      if (excess !== undefined) call.failure = failureOfReading(excess);
      call.firstByteNs = atNs;
      call.endNs = atNs;
    }
    if (isFinal || call.failure !== undefined) this.end(call.endNs === 0 || !this.hasContent ? atNs : call.endNs);
  }

  private end(atNs: number): void {
    const { call } = this;
    this.server.endCall(this.id);
    call.endNs = atNs;
    if (call.firstByteNs === 0) call.firstByteNs = atNs;
    call.isActive = false;
    this.options.onDone(call);
  }

  private failureOf(frame: Uint8Array, flags: number): Failure | undefined {
    if ((flags & RESPONSE_FLAGS.failed) !== 0)
      return { kind: "model", message: new TextDecoder().decode(frame.subarray(RESPONSE_HEAD_BYTES)) };
    if ((flags & RESPONSE_FLAGS.empty) !== 0 || !this.call.isChecked || this.check === undefined) return undefined;
    const fault = this.check.whole(frame, RESPONSE_HEAD_BYTES, frame.length, this.call);
    return fault === undefined ? undefined : unreadable(fault.reason);
  }
}
