import { Call } from "../call.ts";
import type { ClientOptions, LoadClient } from "../client.ts";
import { ABORTED, type Failure, silentFor } from "../failure.ts";
import { openAtPace } from "../open-at-pace.ts";
import type { Endpoint, WireRequest } from "../request.ts";
import { StallWatch } from "../stall-watch.ts";
import { Channel } from "./channel.ts";
import { encodeGrpcMessage, type GrpcMessage } from "./encode.ts";
import { channelIndexOf } from "./lanes.ts";

/** One slot of a gRPC client. */
export interface GrpcSlot {
  send(path: string, message: GrpcMessage, stamp: Uint8Array | undefined): void;
  /** Fails the slot's call, if it has one, and cancels its stream unless other slots share it. */
  cancel(failure: Failure): void;
  /** Fails the slot's call if it has received no byte since the deadline. Returns whether it did so. */
  failIfSilentSince(deadlineNs: number): boolean;
}

/** The common part of Rampart's gRPC clients: slots belong to lanes, lanes share connections, and requests are written in groups. */
export abstract class GrpcClient<Slot extends GrpcSlot> implements LoadClient {
  readonly calls: Call[] = [];
  protected readonly options: ClientOptions;
  protected readonly slots: Slot[] = [];
  private readonly endpoint: Endpoint;
  private readonly channels: Channel[] = [];
  private readonly encoded = new Map<WireRequest, GrpcMessage>();
  private readonly stallWatch: StallWatch;
  private isClosed = false;

  constructor(endpoint: Endpoint, options: ClientOptions) {
    this.endpoint = endpoint;
    this.options = options;
    this.stallWatch = new StallWatch(options.stallTimeoutNs, (deadlineNs) => {
      let hasFailed = false;
      for (const slot of this.slots) if (slot.failIfSilentSince(deadlineNs)) hasFailed = true;
      for (const channel of this.channels) channel.failIfUnanswered(deadlineNs, silentFor(options.stallTimeoutNs));
      // Failed slots may have sent their next request.
      if (hasFailed) this.flush();
    });
  }

  get connectionCount(): number {
    return this.channels.reduce((sum, channel) => sum + channel.connectionCount, 0);
  }

  get resendCount(): number {
    return this.channels.reduce((sum, channel) => sum + channel.resendCount, 0);
  }

  async reserve(count: number): Promise<void> {
    const added: Channel[] = [];
    while (this.slots.length < count) {
      const call = new Call(this.slots.length);
      const channelIndex = channelIndexOf(call.slot, this.options.lanes.laneCount);
      let channel = this.channels[channelIndex];
      if (channel === undefined) {
        channel = new Channel(this.endpoint);
        this.channels[channelIndex] = channel;
        added.push(channel);
      }
      this.calls.push(call);
      this.slots.push(this.createSlot(call, channel));
    }
    this.stallWatch.start();
    await openAtPace(added, {
      open: (channel) => channel.open(),
      isClosed: () => this.isClosed,
      perSec: this.options.connectionsPerSec,
    });
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    let message = this.encoded.get(request);
    if (message === undefined) {
      message = encodeGrpcMessage(request, this.endpoint.compression);
      if (request.isOnce !== true) this.encoded.set(request, message);
    }
    (this.slots[slot] as Slot).send(request.path, message, stamp);
  }

  flush(): void {
    for (const channel of this.channels) channel.flush();
  }

  cancel(slot: number, failure: Failure): void {
    this.slots[slot]?.cancel(failure);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stallWatch.stop();
    this.endStreams();
    for (const channel of this.channels) {
      channel.flush();
      channel.close(ABORTED);
    }
    this.abort(ABORTED);
  }

  /** Creates the slot of a call whose lane uses this channel. */
  protected abstract createSlot(call: Call, channel: Channel): Slot;

  /** Queues frames that end the open streams, before the connections close. */
  protected endStreams(): void {}

  /** Fails every call that did not fail when the connections closed. */
  protected abstract abort(failure: Failure): void;
}
