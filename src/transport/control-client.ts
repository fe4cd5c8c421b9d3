import { formatDurationNs, nsToMs } from "../plan/units.ts";
import { NO_BYTES } from "../runtime/bytes.ts";
import type { Call } from "./call.ts";
import type { CreateClient, LoadClient } from "./client.ts";
import type { Failure } from "./failure.ts";
import type { WireRequest } from "./request.ts";

/** A request outside the load failed. */
export class ControlError extends Error {
  readonly failure: Failure;
  readonly body: Uint8Array | undefined;

  constructor(failure: Failure, body: Uint8Array | undefined) {
    super(failure.message);
    this.name = "ControlError";
    this.failure = failure;
    this.body = body;
  }
}

interface Waiting {
  readonly request: WireRequest;
  resolve(body: Uint8Array): void;
  reject(error: Error): void;
}

const MAX_SLOTS = 4;
/** Minimum, because the first calls are sent while the program is still loading. */
const MIN_LIMIT_NS = 2e9; // 2 s
/** Longer timeouts overflow the timer and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/**
 * Default limit of a response: 16 MiB. Metadata and statistics have a few kilobytes, and their decoded form takes many times their size.
 */
export const MOST_CONTROL_BYTES = 16 * 1024 * 1024;

/** Limits of a control client besides the stall timeout. */
export interface ControlLimits {
  /** Timeout of a whole call, in nanoseconds. Default: twice the stall timeout, at least 2 s. */
  readonly limitNs?: number;
  /** Maximum bytes of a response. Default: {@link MOST_CONTROL_BYTES}. */
  readonly maxResponseBytes?: number;
}

/** Sends single calls over any client, up to four at a time, as promises. For metadata and statistics. */
export class ControlClient {
  private readonly client: LoadClient;
  private readonly queue: Waiting[] = [];
  /** Pending call of each slot; undefined when the slot is free. */
  private readonly current: (Waiting | undefined)[] = [];
  /** Timeout of each slot's call. */
  private readonly timers: (ReturnType<typeof setTimeout> | undefined)[] = [];
  private limitNs: number;

  /**
   * @param stallTimeoutNs a call fails when it receives no byte for this time
   * @param create creates the client; this class sets the options
   */
  constructor(
    stallTimeoutNs: number,
    create: CreateClient,
    { limitNs, maxResponseBytes = MOST_CONTROL_BYTES }: ControlLimits = {},
  ) {
    this.limitNs = limitNs ?? Math.max(2 * stallTimeoutNs, MIN_LIMIT_NS);
    const limits = { stallTimeoutNs, maxResponseBytes };
    this.client = create({
      ...limits,
      responses: { keepBodies: true },
      lanes: { laneCount: 1 },
      onDone: (call) => this.done(call),
    });
  }

  /** Returns the payload of the response. Rejects with {@link ControlError}. */
  call(request: WireRequest): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.queue.push({ request, resolve, reject });
    this.next();
    return promise;
  }

  /** Lowers the timeout of all calls, including those in flight. */
  lowerTimeout(limitNs: number): void {
    this.limitNs = Math.min(this.limitNs, limitNs);
    for (const [slot, waiting] of this.current.entries()) if (waiting !== undefined) this.limit(slot);
  }

  close(): void {
    this.client.close();
    for (const timer of this.timers) clearTimeout(timer);
  }

  /** Restarts the timeout of the slot's call. */
  private limit(slot: number): void {
    clearTimeout(this.timers[slot]);
    const { limitNs } = this;
    const message = `no complete response within ${formatDurationNs(limitNs)}`;
    const expire = (): void => this.client.cancel(slot, { kind: "timeout", message });
    this.timers[slot] = setTimeout(expire, Math.min(MAX_TIMER_MS, Math.ceil(nsToMs(limitNs))));
  }

  /** Starts the next queued call if a slot is free or can be added. */
  private next(): void {
    if (this.queue.length === 0) return;
    const free = this.current.indexOf(undefined);
    const slot = free >= 0 ? free : this.current.length;
    if (slot >= MAX_SLOTS) return;
    const waiting = this.queue.shift() as Waiting;
    this.current[slot] = waiting;
    this.limit(slot);
    // The client waits for the connection.
    if (free < 0) void this.client.reserve(slot + 1);
    this.client.send(slot, waiting.request, undefined);
    this.client.flush();
  }

  private done(call: Call): void {
    const { failure, body, slot } = call;
    const done = this.current[slot];
    if (done === undefined) return;
    this.current[slot] = undefined;
    clearTimeout(this.timers[slot]);
    if (failure === undefined) done.resolve(body ?? NO_BYTES);
    else done.reject(new ControlError(failure, body));
    // Deferred: the client may still be handling its read.
    queueMicrotask(() => this.next());
  }
}
