import type { TritonLibrary } from "./library.ts";

/** A response that Triton has called back with. */
export interface ArrivedResponse {
  /** Its address; 0n for an end without content. */
  readonly response: bigint;
  /** The call's number, which the request had. */
  readonly call: number;
  /** When it arrived, in nanoseconds of the system's monotonic clock. */
  readonly atNs: number;
  readonly isFinal: boolean;
}

/**
 * What Triton calls back on threads of its own, and what ties this process to the run's. Where a runtime compiles C, Triton's threads run C
 * and never wait for JavaScript; elsewhere they wait for a thread of JavaScript, and times include the way to it.
 */
export interface ServerCallbacks {
  /** What a report must say about times taken with them; empty when there is nothing to say. */
  readonly warning: string;
  /** Address of a `TRITONSERVER_ResponseAllocatorAllocFn_t`: for a request with places in shared memory, its user pointer is their address. */
  readonly allocate: bigint;
  /** Address of a `TRITONSERVER_ResponseAllocatorReleaseFn_t`. */
  readonly release: bigint;
  /** Address of a `TRITONSERVER_InferenceResponseCompleteFn_t`, whose user pointer is the number of the call. */
  readonly complete: bigint;
  /** Call once the library is open. */
  use(triton: TritonLibrary): void;
  /**
   * Calls `TRITONSERVER_ServerInferAsync` right after it has taken the time.
   * @returns the address of its error; 0n without one
   */
  infer(server: bigint, request: bigint): bigint;
  /** When `infer` was last called, in nanoseconds of the system's monotonic clock. */
  beganNs(): number;
  /** Passes on some of the responses that have arrived. Returns whether there may be more. */
  take(receive: (arrived: ArrivedResponse) => void): boolean;
  /** Call once the models are loaded: from then on this thread is free to end the process when the run has ended. */
  endLoading(): void;
  /** Ends this process and those of the models. */
  end(): void;
}
