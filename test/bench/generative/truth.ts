import type { LlmStream } from "../../servers/llm-stub.ts";
import type { MeasuredStream } from "./read-streams.ts";

/** How far a tool's times are from the server's own. */
export interface Truth {
  /** Of the time to first token, from the moment on when the server got the request: mean, and 99th percentile of the distances. */
  readonly ttftErrorAvgMs: number;
  readonly ttftErrorP99Ms: number;
  /** Mean over all requests, the tool's less the server's. */
  readonly itlErrorMs: number;
}

/**
 * Holds what a tool recorded against the server's log. Requests are matched in the order in which they were sent and came.
 * @throws when one has other requests than the other; perf_analyzer may have sent one more, and not recorded it
 */
export function compareWithServer(
  measured: readonly MeasuredStream[],
  log: readonly LlmStream[],
  tokens: number,
): Truth {
  if (measured.length > log.length || measured.length < log.length - 1)
    throw new Error(`the tool recorded ${measured.length} requests, the server answered ${log.length}`);
  const served = [...log].sort((a, b) => a.receivedNs - b.receivedNs);
  const errors: number[] = [];
  let itlErrorMs = 0;
  measured.forEach(({ firstMs, lastMs }, i) => {
    const { receivedNs, firstNs, lastNs } = served[i] as LlmStream;
    errors.push(Math.abs(firstMs - (firstNs - receivedNs) / 1e6));
    itlErrorMs += (lastMs - firstMs - (lastNs - firstNs) / 1e6) / (tokens - 1) / measured.length;
  });
  errors.sort((a, b) => a - b);
  return {
    ttftErrorAvgMs: errors.reduce((sum, error) => sum + error, 0) / errors.length,
    ttftErrorP99Ms: errors[Math.ceil(errors.length * 0.99) - 1] ?? Number.NaN,
    itlErrorMs,
  };
}
