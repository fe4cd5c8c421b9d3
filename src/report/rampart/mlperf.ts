import type { LimitedStop } from "../../measure/mlperf/early-stopping.ts";
import type { EstimatedStop, MlperfResult } from "../../measure/mlperf/judge-mlperf.ts";
import { type MlperfTokenTime, type MlperfTokenTimes, TOKEN_TIME_LABELS } from "../../measure/mlperf/judge-tokens.ts";
import { MLPERF_PERCENTILES, type MlperfLatency } from "../../measure/mlperf/latency-statistics.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";

/** The result of a scenario of MLPerf, under the names of LoadGen's summary. */

/** Returns the lines of the result: what, and its value. The first one is the verdict. */
export function mlperfRows(result: MlperfResult): string[][] {
  const { latency } = result;
  return [
    ["Result is", result.isValid ? "VALID" : "INVALID"],
    ...result.broken.map((reason, index) => [index === 0 ? "because" : "", reason]),
    ...ratesOf(result),
    ...(result.target === undefined
      ? []
      : [[`p${result.target.percentile} latency`, formatDurationNs(result.target.latencyNs)]]),
    ...(result.earlyStopping === undefined ? [] : [["early stopping", describeStop(result.earlyStopping)]]),
    ...(result.p99Stopping === undefined ? [] : [["early stopping, p99", describeStop(result.p99Stopping)]]),
    ...tokenRows(result.tokens),
    ["queries", formatCount(result.queryCount)],
    ...(result.sampleCount === result.queryCount ? [] : [["samples", formatCount(result.sampleCount)]]),
    ...(latency === undefined
      ? []
      : [
          ["min, mean, max", describeRange(latency)],
          ...MLPERF_PERCENTILES.map((name, index) => [`p${name}`, formatDurationNs(latency.percentilesNs[index] ?? 0)]),
        ]),
  ];
}

const TOKEN_TIMES = Object.keys(TOKEN_TIME_LABELS) as readonly (keyof MlperfTokenTimes)[];
const ALL_PERCENTILES = MLPERF_PERCENTILES.map((name) => `p${name}`).join(", ");

function tokenRows(times: MlperfTokenTimes | undefined): string[][] {
  return times === undefined ? [] : TOKEN_TIMES.flatMap((name) => rowsOfTime(TOKEN_TIME_LABELS[name], times[name]));
}

function rowsOfTime(label: string, { target, limitNs, earlyStopping, latency }: MlperfTokenTime): string[][] {
  return [
    ...(target === undefined
      ? []
      : [
          [
            `p${target.percentile} ${label}`,
            `${formatDurationNs(target.latencyNs)} (limit: ${formatDurationNs(limitNs)})`,
          ],
        ]),
    [`early stopping, ${label}`, describeStop(earlyStopping)],
    ...(latency === undefined
      ? []
      : [
          [`min, mean, max ${label}`, describeRange(latency)],
          [ALL_PERCENTILES, latency.percentilesNs.map(formatDurationNs).join(", ")],
        ]),
  ];
}

function describeRange({ minNs, meanNs, maxNs }: MlperfLatency): string {
  return [minNs, meanNs, maxNs].map(formatDurationNs).join(", ");
}

function ratesOf(result: MlperfResult): string[][] {
  const { samplesPerSec, completedPerSec, withoutOverheadPerSec, tokensPerSec, scenario } = result;
  const name = { "single-stream": "sent", "multi-stream": "sent", server: "scheduled", offline: "completed" }[scenario];
  return [
    ...(samplesPerSec === undefined ? [] : [[`samples/s ${name}`, formatCount(samplesPerSec)]]),
    ...(completedPerSec === undefined ? [] : [["samples/s completed", formatCount(completedPerSec)]]),
    ...(tokensPerSec === undefined ? [] : [["tokens/s completed", formatCount(tokensPerSec)]]),
    ...(withoutOverheadPerSec === undefined ? [] : [["1 / mean latency", `${formatCount(withoutOverheadPerSec)}/s`]]),
  ];
}

function describeStop(stop: EstimatedStop | LimitedStop): string {
  if ("missingCount" in stop)
    return stop.isMet
      ? `met with ${formatCount(stop.overCount)} queries over the limit`
      : `not met with ${formatCount(stop.overCount)} queries over the limit: ${formatCount(stop.missingCount)} more within it are needed`;
  if (stop.estimate === undefined) return `not met: ${stop.neededCount} queries are needed`;
  const { latencyNs, discardedCount } = stop.estimate;
  return `at most ${formatDurationNs(latencyNs)} with 99 % confidence (above it are ${formatCount(discardedCount)} latencies)`;
}
