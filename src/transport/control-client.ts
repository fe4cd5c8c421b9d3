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

const NO_BYTES = new Uint8Array(0);

/** Calls one at a time over any client, as promises: for metadata and statistics, whatever transport carries the load. */
export class ControlClient {
  readonly #client: LoadClient;
  readonly #queue: Waiting[] = [];
  #current: Waiting | undefined;
  #isReserved = false;

  /** @param create makes the client; `keepBodies`, `laneCount` and `onDone` are given by this class */
  constructor(stallTimeoutNs: number, create: (options: ClientOptions) => LoadClient) {
    this.#client = create({ keepBodies: true, stallTimeoutNs, laneCount: 1, onDone: (call) => this.#done(call) });
  }

  /** Resolves with the answer's payload. Rejects with {@link ControlError}. */
  call(request: WireRequest): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, resolve, reject });
      if (this.#current === undefined) this.#next();
    });
  }

  close(): void {
    this.#client.close();
  }

  #next(): void {
    this.#current = this.#queue.shift();
    if (this.#current === undefined) return;
    const { request } = this.#current;
    if (this.#isReserved) {
      this.#send(request);
      return;
    }
    this.#isReserved = true;
    void this.#client.reserve(1).then(() => this.#send(request));
  }

  #send(request: WireRequest): void {
    this.#client.send(0, request, undefined);
    this.#client.flush();
  }

  #done(call: Call): void {
    const done = this.#current;
    if (done === undefined) return;
    const { failure, body } = call;
    // The next call must not start inside this one's completion: the client may still be handling its read.
    this.#current = undefined;
    if (failure === undefined) done.resolve(body ?? NO_BYTES);
    else done.reject(new ControlError(failure, body));
    queueMicrotask(() => {
      if (this.#current === undefined) this.#next();
    });
  }
}
