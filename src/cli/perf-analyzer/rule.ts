/** A rule between options: whether it is broken, and the problem to report if it is. */
export type Rule = readonly [isBroken: boolean, path: string, message: string, hint: string, value?: string];

/** Message of the kinds without streams of responses. */
export const NO_STREAMS = "Streaming is only allowed with gRPC protocol and Triton C API.";

/** Returns the rule for servers whose metrics differ from Triton's. */
export function noMetrics(isCollectingMetrics: boolean, hint = "Leave --collect-metrics out."): Rule {
  const message = "Server-side metric collection is only supported with Triton client backend.";
  return [isCollectingMetrics, "--collect-metrics", message, hint];
}
