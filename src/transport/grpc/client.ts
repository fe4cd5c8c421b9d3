import { formatDurationNs } from "../../plan/units.ts";
import { Call, type ClientOptions, type LoadClient } from "../client.ts";
import type { Failure } from "../failure.ts";
import type { Endpoint, WireRequest } from "../request.ts";
import { StallWatch } from "../stall-watch.ts";
import { encodeGrpcMessage, type GrpcMessage } from "./encode.ts";
import { lineIndexOf } from "./lanes.ts";
import { Line } from "./line.ts";

/** One slot of a gRPC client. */
export interface GrpcSlot {
  send(path: string, message: GrpcMessage, stamp: Uint8Array | undefined): void;
  /** Fails the slot's call, if there is one, and takes back its stream as far as that is its own. */
  cancel(failure: Failure): void;
  /** Fails the slot's call if it has brought no byte since; returns whether it did. */
  failIfSilentSince(deadlineNs: number): boolean;
}

/** What the gRPC clients of the measured path share: slots are dealt to lanes, lanes share connections, requests leave in groups. */
export abstract class GrpcClient<Slot extends GrpcSlot> implements LoadClient {
  readonly calls: Call[] = [];
  protected readonly options: ClientOptions;
  protected readonly slots: Slot[] = [];
  private readonly endpoint: Endpoint;
  private readonly lines: Line[] = [];
  private readonly encoded = new Map<WireRequest, GrpcMessage>();
  private readonly stallWatch: StallWatch;
  private isClosed = false;

  constructor(endpoint: Endpoint, options: ClientOptions) {
    this.endpoint = endpoint;
    this.options = options;
    this.stallWatch = new StallWatch(options.stallTimeoutNs, (deadlineNs) => {
      let hasFailed = false;
      for (const slot of this.slots) if (slot.failIfSilentSince(deadlineNs)) hasFailed = true;
      const message = `no byte received for ${formatDurationNs(options.stallTimeoutNs)}`;
      for (const line of this.lines) line.failIfUnanswered(deadlineNs, { kind: "stalled", message });
      // Who failed may have sent again.
      if (hasFailed) this.flush();
    });
  }

  get connectionCount(): number {
    return this.lines.reduce((sum, line) => sum + line.connectionCount, 0);
  }

  get resendCount(): number {
    return this.lines.reduce((sum, line) => sum + line.resendCount, 0);
  }

  async reserve(count: number): Promise<void> {
    const opening: Promise<void>[] = [];
    while (this.slots.length < count) {
      const call = new Call(this.slots.length);
      const lineIndex = lineIndexOf(call.slot, this.options.laneCount);
      let line = this.lines[lineIndex];
      if (line === undefined) {
        line = new Line(this.endpoint);
        this.lines[lineIndex] = line;
        opening.push(line.connect().ready);
      }
      this.calls.push(call);
      this.slots.push(this.createSlot(call, line));
    }
    this.stallWatch.start();
    await Promise.all(opening);
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    let message = this.encoded.get(request);
    if (message === undefined) {
      message = encodeGrpcMessage(request, this.endpoint.compression);
      this.encoded.set(request, message);
    }
    (this.slots[slot] as Slot).send(request.path, message, stamp);
  }

  flush(): void {
    for (const line of this.lines) line.flush();
  }

  cancel(slot: number, failure: Failure): void {
    this.slots[slot]?.cancel(failure);
    this.flush();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stallWatch.stop();
    const failure: Failure = { kind: "aborted", message: "still in flight when the run ended" };
    this.sayGoodbye();
    for (const line of this.lines) {
      line.flush();
      line.close(failure);
    }
    this.abort(failure);
  }

  /** Makes the slot of a call, whose lane uses this line. */
  protected abstract createSlot(call: Call, line: Line): Slot;

  /** Queues what the server should still be told before the connections close. Nothing, unless a client has streams to end. */
  protected sayGoodbye(): void {}

  /** Fails every call that the closed connections have not failed already. */
  protected abstract abort(failure: Failure): void;
}
