import type { Frame } from "../../../transport/in-process/frames.ts";
import type { TritonLibrary } from "./library.ts";

/** What the process does with the run's frames. */
export interface FrameHost {
  /** Address of Triton's server. */
  readonly server: bigint;
  /** Address of the allocator of responses. */
  readonly allocator: bigint;
  /** Handles a frame of the run. */
  receive(frame: Frame): void;
  /** No request uses a forgotten template any more. */
  endTemplate(template: number): void;
  /** Ends this process: the run has ended. */
  end(): void;
}

/** A call of the run. */
export interface StartedCall {
  /** The call's number, which its responses have. */
  readonly call: number;
  /** The number of the template that its request was made from. */
  readonly template: number;
  /** Address of the places of outputs in shared memory; 0n without any. */
  readonly places: bigint;
  /** Whether all requests of the template are the same. */
  readonly isSame: boolean;
}

/**
 * What lies between the pipe to the run and Triton, which calls back on threads of its own, and what ties this process to the run's. Where a
 * runtime compiles C, no JavaScript runs between a response and the next request; elsewhere Triton's threads wait for a thread of
 * JavaScript, and times include the way to it.
 */
export interface ServerCallbacks {
  /** What a report must say about times taken with them; empty when there is nothing to say. */
  readonly warning: string;
  /** Address of a `TRITONSERVER_ResponseAllocatorAllocFn_t`: for a request with places in shared memory, its user pointer is their address. */
  readonly allocate: bigint;
  /** Address of a `TRITONSERVER_ResponseAllocatorReleaseFn_t`. */
  readonly release: bigint;
  /** Call once the library is open. */
  use(triton: TritonLibrary): void;
  /** Reads the run's frames and writes responses from now on. Call once the models are loaded. @throws NativeError */
  run(host: FrameHost): void;
  /**
   * Sets a request's callbacks, takes the time and calls `TRITONSERVER_ServerInferAsync`. The request is deleted when nothing uses it, also
   * when Triton does not take it.
   * @returns the address of an error; 0n without one
   */
  infer(request: bigint, started: StartedCall): bigint;
  /** No call uses a template from now on. `endTemplate` follows, when its requests have ended. */
  forget(template: number): void;
  /** Sends a frame to the run. Call after `run`. */
  write(frame: Uint8Array): void;
  /** Ends this process and those of the models. */
  end(): void;
}
