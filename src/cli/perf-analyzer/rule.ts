/** A rule between options: whether it is broken, and the problem to report if it is. */
export type Rule = readonly [isBroken: boolean, path: string, message: string, hint: string, value?: string];

/** Message of the kinds without streams of responses. */
export const NO_STREAMS = "Streaming is only allowed with gRPC protocol and Triton C API.";

/** Returns the rule for servers whose metrics differ from Triton's. */
export function noMetrics(isCollectingMetrics: boolean, hint = "Leave --collect-metrics out."): Rule {
  const message = "Server-side metric collection is only supported with Triton client backend.";
  return [isCollectingMetrics, "--collect-metrics", message, hint];
}

/**
 * Returns the rule for servers that cannot read memory of this machine.
 * @param sharedMemory value of `--shared-memory`
 * @param backend perf_analyzer's name of the service kind
 */
export function noSharedMemory(sharedMemory: string, backend: string): Rule {
  const message = `client backend of kind ${backend} does not support CreateSharedMemoryRegion()`;
  return [sharedMemory !== "none", "--shared-memory", message, "Leave --shared-memory out."];
}
