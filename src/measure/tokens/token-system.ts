import { nsToSec } from "../../plan/units.ts";
import { sumOf } from "../numpy-statistics.ts";
import type { TokenColumns } from "./token-columns.ts";

/** Metrics of a whole run, or of one session. */
export interface SystemMetrics {
  /** The first send; 0 without requests. */
  readonly startNs: number;
  /** From there to the last content. */
  readonly durationNs: number;
  /** Number of requests with content. */
  readonly requestCount: number;
  /** As in GenAI-Perf: includes requests without content, excludes failed ones. */
  readonly requestsPerSec: number;
  readonly outputTokensPerSec: number;
}

/** Computes the system metrics of all rows, or of one session's rows over the session's own duration. */
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
  const durationSec = nsToSec(durationNs);
  const answered = requestCount + (isAll ? columns.emptyCount : 0);
  return {
    startNs: requestCount === 0 ? 0 : firstNs,
    durationNs,
    requestCount,
    requestsPerSec: perSec(answered, durationSec),
    outputTokensPerSec: perSec(sumOf(outputTokens.measured(rows)), durationSec),
  };
}

function perSec(amount: number, durationSec: number): number {
  return durationSec > 0 ? amount / durationSec : 0;
}
