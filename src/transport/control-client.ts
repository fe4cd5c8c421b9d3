import { DEFAULT_MAX_RESPONSE_BYTES } from "../plan/response-limit.ts";
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
const NO_BYTES = new Uint8Array(0);

/** Single calls over any client, as promises, a few at a time: for metadata and statistics, whatever transport carries the load. */
export class ControlClient {
  private readonly client: LoadClient;
  private readonly queue: Waiting[] = [];
  /** By slot; undefined when it is free. */
  private readonly current: (Waiting | undefined)[] = [];

  /**
   * @param create makes the client; the options besides the limits are given by this class
   * @param maxResponseBytes most bytes of an answer; default: that of a plan
   */
  constructor(
    stallTimeoutNs: number,
    create: (options: ClientOptions) => LoadClient,
    maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES,
  ) {
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

  close(): void {
    this.client.close();
  }

  /** Starts a waiting call if a slot is free or may be added. */
  private next(): void {
    if (this.queue.length === 0) return;
    const free = this.current.indexOf(undefined);
    const slot = free >= 0 ? free : this.current.length;
    if (slot >= MAX_SLOTS) return;
    const waiting = this.queue.shift() as Waiting;
    this.current[slot] = waiting;
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
    if (failure === undefined) done.resolve(body ?? NO_BYTES);
    else done.reject(new ControlError(failure, body));
    // Not inside this call's completion: the client may still be handling its read.
    queueMicrotask(() => this.next());
  }
}
