import type { Frame } from "../../../transport/in-process/frames.ts";
import type { TritonLibrary } from "./library.ts";

/** Handler of the run's frames in the process. */
export interface FrameHost {
  readonly server: bigint;
  /** Address of the response allocator. */
  readonly allocator: bigint;
  /** Handles a frame of the run. */
  receive(frame: Frame): void;
  /** Called when no request uses a forgotten template any more. */
  endTemplate(template: number): void;
  /** Called when the run has ended. Ends this process. */
  end(): void;
}

/** A call of the run. */
export interface StartedCall {
  /** The call's number, which its responses repeat. */
  readonly call: number;
  /** Number of the template from which its request was made. */
  readonly template: number;
  /** Address of the places of outputs in shared memory; 0n if there are none. */
  readonly places: bigint;
  /** Whether all requests of the template are the same. */
  readonly isSame: boolean;
}

/**
 * The layer between the pipe to the run and Triton, which calls back on its own threads. It also ties this process to the run's. In
 * runtimes that can compile C, no JavaScript runs between a response and the next request. Elsewhere Triton's threads wait for the
 * JavaScript thread, and measured times include that wait.
 */
export interface ServerCallbacks {
  /** Warning that a report must contain about times taken with these callbacks; empty if there is none. */
  readonly warning: string;
  /**
   * Address of a `TRITONSERVER_ResponseAllocatorAllocFn_t`. For a request with places in shared memory, its user pointer is the address of
   * the places.
   */
  readonly allocate: bigint;
  /** Address of a `TRITONSERVER_ResponseAllocatorReleaseFn_t`. */
  readonly release: bigint;
  use(triton: TritonLibrary): void;
  /** Starts reading the run's frames and writing responses. Call when the models are loaded. @throws NativeError */
  run(host: FrameHost): void;
  /**
   * Sets a request's callbacks, takes the time and calls `TRITONSERVER_ServerInferAsync`. The request is deleted when nothing uses it, even
   * if Triton does not accept it.
   * @returns the address of an error; 0n without an error
   */
  infer(request: bigint, started: StartedCall): bigint;
  /** Forgets a template, which no later call uses. `endTemplate` follows when its requests have ended. */
  forget(template: number): void;
  /** Sends a frame to the run. Call after `run`. */
  write(frame: Uint8Array): void;
  /** Ends this process and the models' processes. */
  end(): void;
}
