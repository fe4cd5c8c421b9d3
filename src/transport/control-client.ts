import { DEFAULT_MAX_RESPONSE_BYTES } from "../plan/response-limit.ts";
import { formatDurationNs } from "../plan/units.ts";
import type { Call, ClientOptions, LoadClient } from "./client.ts";
import type { Failure } from "./failure.ts";
import type { WireRequest } from "./request.ts";

/** A single call outside the load failed. */
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
/** The first calls are sent while the program still loads. */
const MIN_LIMIT_NS = 2e9; // 2 s
/** Timers take 31 bits of milliseconds; longer ones would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const NO_BYTES = new Uint8Array(0);

/** What a control client bounds besides the stall timeout. */
export interface ControlLimits {
  /** A whole call may take this long, however often bytes arrive. Default: twice the stall timeout, and 2 s at least. */
  readonly limitNs?: number;
  /** Most bytes of an answer. Default: that of a plan. */
  readonly maxResponseBytes?: number;
}

/** Single calls over any client, as promises, a few at a time: for metadata and statistics, whatever transport carries the load. */
export class ControlClient {
  private readonly client: LoadClient;
  private readonly queue: Waiting[] = [];
  /** By slot; undefined when it is free. */
  private readonly current: (Waiting | undefined)[] = [];
  /** By slot: ends a call that takes too long. */
  private readonly timers: (ReturnType<typeof setTimeout> | undefined)[] = [];
  private limitNs: number;

  /**
   * @param stallTimeoutNs a call without a byte for this long has failed
   * @param create makes the client; the options besides the limits are given by this class
   */
  constructor(
    stallTimeoutNs: number,
    create: (options: ClientOptions) => LoadClient,
    { limitNs, maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES }: ControlLimits = {},
  ) {
    this.limitNs = limitNs ?? Math.max(2 * stallTimeoutNs, MIN_LIMIT_NS);
    const limits = { stallTimeoutNs, maxResponseBytes };
    this.client = create({ ...limits, keepBodies: true, laneCount: 1, onDone: (call) => this.done(call) });
  }

  /** Resolves with the answer's payload. Rejects with {@link ControlError}. */
  call(request: WireRequest): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.queue.push({ request, resolve, reject });
    this.next();
    return promise;
  }

  /** From now on no call may take longer than this, those in flight included: somebody waits for the end. */
  hurry(limitNs: number): void {
    this.limitNs = Math.min(this.limitNs, limitNs);
    for (const [slot, waiting] of this.current.entries()) if (waiting !== undefined) this.limit(slot);
  }

  close(): void {
    this.client.close();
    for (const timer of this.timers) clearTimeout(timer);
  }

  /** Gives the slot's call the time that a call may take now. */
  private limit(slot: number): void {
    clearTimeout(this.timers[slot]);
    const { limitNs } = this;
    const message = `no complete answer within ${formatDurationNs(limitNs)}`;
    const expire = (): void => this.client.cancel(slot, { kind: "timeout", message });
    this.timers[slot] = setTimeout(expire, Math.min(MAX_TIMER_MS, Math.ceil(limitNs / 1e6)));
  }

  /** Starts a waiting call if a slot is free or may be added. */
  private next(): void {
    if (this.queue.length === 0) return;
    const free = this.current.indexOf(undefined);
    const slot = free >= 0 ? free : this.current.length;
    if (slot >= MAX_SLOTS) return;
    const waiting = this.queue.shift() as Waiting;
    this.current[slot] = waiting;
    this.limit(slot);
    // Sending does not wait for the connection: the client does.
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
    // Not inside this call's completion: the client may still be handling its read.
    queueMicrotask(() => this.next());
  }
}
