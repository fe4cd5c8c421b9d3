import { nsToSec } from "../../plan/units.ts";
import type { Column } from "../column.ts";
import { sumOf } from "../numpy-statistics.ts";
import type { TokenColumns } from "./token-columns.ts";

/** Metrics of a whole run, or of one session. */
export interface SystemMetrics {
  /** From the first send to the last content. */
  readonly durationNs: number;
  /** Number of requests with content. */
  readonly requestCount: number;
  /** As in GenAI-Perf: includes requests without content, excludes failed ones. */
  readonly requestsPerSec: number;
  readonly outputTokensPerSec: number;
  /** Input and output tokens, by the client's counts; undefined unless the client counts both. */
  readonly totalTokensPerSec: number | undefined;
  /** The same by the server's counts; undefined unless the server reports them for each request. */
  readonly serverTokensPerSec: number | undefined;
  /** Mean number of requests in flight: sum of latencies divided by the duration. */
  readonly effectiveConcurrency: number;
  /** Failed requests divided by all requests, 0 to 1. */
  readonly errorRatio: number;
}

/** Computes the system metrics of all rows, or of one session's rows over the session's own duration. */
export function systemMetrics(columns: TokenColumns, rows?: readonly number[]): SystemMetrics {
  const { requestLatencyNs, inputTokens, outputTokens, serverInputTokens, serverOutputTokens } = columns.metrics;
  const requestCount = rows?.length ?? columns.count;
  const isAll = rows === undefined;
  let firstNs = Number.POSITIVE_INFINITY;
  let lastNs = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < requestCount; i++) {
    const row = isAll ? i : (rows[i] as number);
    const sendNs = columns.sendNs.at(row);
    firstNs = Math.min(firstNs, sendNs);
    lastNs = Math.max(lastNs, sendNs + requestLatencyNs.at(row));
  }
  const durationNs = requestCount === 0 ? 0 : lastNs - firstNs;
  const durationSec = nsToSec(durationNs);
  const answered = requestCount + (isAll ? columns.emptyCount : 0);
  const total = answered + columns.failedCount;
  return {
    durationNs,
    requestCount,
    requestsPerSec: perSec(answered, durationSec),
    outputTokensPerSec: perSec(sumOf(outputTokens.measured(rows)), durationSec),
    totalTokensPerSec: tokensPerSec([inputTokens, outputTokens], durationSec, requestCount, rows),
    serverTokensPerSec: tokensPerSec([serverInputTokens, serverOutputTokens], durationSec, requestCount, rows),
    effectiveConcurrency: durationNs > 0 ? sumOf(requestLatencyNs.measured(rows)) / durationNs : 0,
    errorRatio: isAll && total > 0 ? columns.failedCount / total : 0,
  };
}

/** Undefined unless every request has all counts, because a sum over some of them is not a throughput. */
function tokensPerSec(
  counts: readonly Column[],
  durationSec: number,
  requestCount: number,
  rows: readonly number[] | undefined,
): number | undefined {
  const all = counts.map((column) => column.measured(rows));
  if (requestCount === 0 || all.some(({ length }) => length < requestCount)) return undefined;
  return perSec(
    all.reduce((sum, values) => sum + sumOf(values), 0),
    durationSec,
  );
}

function perSec(amount: number, durationSec: number): number {
  return durationSec > 0 ? amount / durationSec : 0;
}
