import { defined } from "../../plan/objects.ts";
import { nsToSec } from "../../plan/units.ts";
import { sendingNsOf } from "../derived-values.ts";
import { type CompletionBins, coverBins, type SampleBins } from "../intervals/time-bins.ts";
import type { Measurement } from "../measurement.ts";
import { sumOf } from "../numpy-statistics.ts";
import { EMPTY_SKETCH, sumOfValues } from "../sketch.ts";
import { NumberTally } from "../tally/number-tally.ts";
import type { TokenColumns } from "./token-columns.ts";
import type { TokenMeasurement } from "./token-measurement.ts";

/** Data that rows do not contain: how requests were sent, requests that did not succeed, and the state of the client and the server. */
type RowFrame = Pick<Measurement, "isScheduled" | "isStreamed" | "failedCount" | "cancelledCount"> &
  Partial<
    Pick<
      Measurement,
      | ("numbers" | "windowCount" | "resentCount" | "delayedCount" | "gaps" | "health" | "server" | "gauges")
      | ("sendMeanNs" | "receiveMeanNs" | "laneNs" | "overheadPct")
    >
  >;

/**
 * Returns the measurement of rows, measured like a run in GenAI-Perf: all requests, from the first send to the last content.
 * @param tokens of the same rows, at least one
 */
export function measureRows(columns: TokenColumns, tokens: TokenMeasurement, frame: RowFrame): Measurement {
  const { startNs, durationNs } = systemMetrics(columns);
  const endNs = startNs + durationNs;
  const requestCount = columns.count + columns.emptyCount;
  const sentCount = requestCount + frame.failedCount + frame.cancelledCount;
  const latency = tokens.metrics.requestLatencyNs ?? EMPTY_SKETCH;
  return defined({
    ...NOT_KNOWN,
    ...frame,
    ...{ startNs, endNs, durationNs, requestCount, sentCount, latency, tokens },
    sendingNs: frame.isScheduled ? sendingNsOfRows(columns, startNs) : durationNs,
    inFlightSumNs: sumOfValues(latency),
    completions: latency.bins && completionsOf(latency.bins, startNs, endNs),
    ...(frame.isScheduled ? measureDue(columns, startNs, endNs) : {}),
  });
}

/** Fields that are unknown if there are only rows. */
const NOT_KNOWN = {
  ...{ windowCount: 1, isDecoupled: false, resentCount: 0, delayedCount: 0, openBeforeCount: 0, openAfterCount: 0 },
  ...{
    sequenceCount: 0,
    responseCount: 0,
    betweenCount: 0,
    betweenSumNs: 0,
    sendMeanNs: 0,
    receiveMeanNs: 0,
    laneNs: 0,
    overheadPct: 0,
  },
  health: { cpuRatio: 0, loopLagMaxNs: 0, loopLagMeanNs: 0 },
} as const;

function completionsOf(bins: SampleBins, startNs: number, endNs: number): CompletionBins {
  const { binNs, first, counts } = bins;
  return { binNs, first, counts, coveredNs: coverBins(bins, startNs, endNs) };
}

function sendingNsOfRows({ sendNs, waitNs, count }: TokenColumns, startNs: number): number {
  const sentNs = sendNs.view().reduce((most, ns) => Math.max(most, ns), startNs) - startNs;
  let [firstDueNs, lastDueNs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < sendNs.length; row++) {
    const dueNs = sendNs.at(row) - Math.max(0, waitNs.at(row));
    firstDueNs = Math.min(firstDueNs, dueNs);
    lastDueNs = Math.max(lastDueNs, dueNs);
  }
  return sendingNsOf(count, sentNs, lastDueNs - firstDueNs);
}

/** Measures from the due times of requests. */
function measureDue(
  { sendNs, waitNs, metrics }: TokenColumns,
  startNs: number,
  endNs: number,
): Pick<Measurement, "scheduledLatency" | "sendDelay"> {
  const [fromDue, late] = [new NumberTally(), new NumberTally()];
  for (let row = 0; row < sendNs.length; row++) {
    const sentNs = sendNs.at(row);
    const [latencyNs, delayNs] = [metrics.requestLatencyNs.at(row), Math.max(0, waitNs.at(row))];
    fromDue.add(delayNs + latencyNs, sentNs + latencyNs);
    late.add(delayNs, sentNs + latencyNs);
  }
  return { scheduledLatency: fromDue.cut(startNs, endNs), sendDelay: late.cut(startNs, endNs) };
}

/** Metrics of a whole run, or of one session. */
interface SystemMetrics {
  /** The first send; 0 without requests. */
  readonly startNs: number;
  /** Time from the first send to the last content. */
  readonly durationNs: number;
  readonly requestCount: number;
  /** As in GenAI-Perf: includes requests without content, excludes failed ones. */
  readonly requestsPerSec: number;
  readonly outputTokensPerSec: number;
}

/** Computes the system metrics of all rows, or of one session's rows over the duration of that session. */
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
