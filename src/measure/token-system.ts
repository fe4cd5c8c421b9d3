import { sumOf } from "./statistics.ts";
import type { TokenColumns } from "./token-metrics.ts";

/** Numbers of a whole run, or of one session. */
export interface SystemMetrics {
  /** From the first send to the last content. */
  readonly durationNs: number;
  /** Requests with content. */
  readonly requestCount: number;
  /** As GenAI-Perf counts them: requests without content too, failed ones not. */
  readonly requestsPerSec: number;
  readonly outputTokensPerSec: number;
  /** Requests in flight on average: latencies over duration. */
  readonly effectiveConcurrency: number;
  /** Failed over all, 0 to 1. */
  readonly errorRatio: number;
}

/** System metrics of all rows, or of those of one session (whose duration is its own). */
export function systemMetrics(columns: TokenColumns, rows?: readonly number[]): SystemMetrics {
  const { requestLatencyNs, outputTokens } = columns.metrics;
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
  const durationSec = durationNs / 1e9;
  const answered = requestCount + (isAll ? columns.emptyCount : 0);
  const total = answered + columns.failedCount;
  return {
    durationNs,
    requestCount,
    requestsPerSec: perSec(answered, durationSec),
    outputTokensPerSec: perSec(sumOf(outputTokens.measured(rows)), durationSec),
    effectiveConcurrency: durationNs > 0 ? sumOf(requestLatencyNs.measured(rows)) / durationNs : 0,
    errorRatio: isAll && total > 0 ? columns.failedCount / total : 0,
  };
}

function perSec(amount: number, durationSec: number): number {
  return durationSec > 0 ? amount / durationSec : 0;
}
