import type { LlmStream } from "../../servers/llm-stub.ts";
import type { MeasuredStream } from "./read-streams.ts";

/** How far a tool's times are from the server's own. */
export interface Truth {
  /** Of the time to first token, from the moment on when the server got the request: mean, and 99th percentile of the distances. */
  readonly ttftErrorAvgMs: number;
  readonly ttftErrorP99Ms: number;
  /** The same without the first request of each user: those begin in one moment, with code that is not compiled. */
  readonly laterErrorAvgMs: number;
  readonly laterErrorP99Ms: number;
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
  { tokens, users }: { readonly tokens: number; readonly users: number },
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
  const [all, later] = [errors, errors.slice(users)].map((some) => ({
    avgMs: some.reduce((sum, error) => sum + error, 0) / some.length,
    p99Ms: some.toSorted((a, b) => a - b)[Math.ceil(some.length * 0.99) - 1] ?? Number.NaN,
  })) as [Spread, Spread];
  return {
    ttftErrorAvgMs: all.avgMs,
    ttftErrorP99Ms: all.p99Ms,
    laterErrorAvgMs: later.avgMs,
    laterErrorP99Ms: later.p99Ms,
    itlErrorMs,
  };
}

interface Spread {
  readonly avgMs: number;
  readonly p99Ms: number;
}
