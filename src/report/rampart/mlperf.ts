import {
  type EstimatedStop,
  type LimitedStop,
  MLPERF_PERCENTILES,
  type MlperfResult,
} from "../../measure/mlperf/judge-mlperf.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { formatTable } from "./format.ts";

/** The result of a scenario of MLPerf, under the names of LoadGen's summary. */

/** Formats the result for people. */
export function formatMlperf(result: MlperfResult): string {
  return formatTable(["MLPerf", result.scenario], mlperfRows(result));
}

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
    ["queries", formatCount(result.queryCount)],
    ...(result.sampleCount === result.queryCount ? [] : [["samples", formatCount(result.sampleCount)]]),
    ...(latency === undefined
      ? []
      : [
          ["min, mean, max", [latency.minNs, latency.meanNs, latency.maxNs].map(formatDurationNs).join(", ")],
          ...MLPERF_PERCENTILES.map((name, index) => [`p${name}`, formatDurationNs(latency.percentilesNs[index] ?? 0)]),
        ]),
  ];
}

function ratesOf({ samplesPerSec, completedPerSec, withoutOverheadPerSec, scenario }: MlperfResult): string[][] {
  const name = { "single-stream": "sent", "multi-stream": "sent", server: "scheduled", offline: "completed" }[scenario];
  return [
    ...(samplesPerSec === undefined ? [] : [[`samples/s ${name}`, formatCount(samplesPerSec)]]),
    ...(completedPerSec === undefined ? [] : [["samples/s completed", formatCount(completedPerSec)]]),
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

/** Converts the result to JSON. Latencies are in nanoseconds, as in LoadGen's logs. */
export function toMlperfJson({ latency, ...result }: MlperfResult): object {
  if (latency === undefined) return result;
  const { percentilesNs, ...rest } = latency;
  const percentiles = MLPERF_PERCENTILES.map((name, index) => [`p${name}`, percentilesNs[index]]);
  return { ...result, latencyNs: rest, percentilesNs: Object.fromEntries(percentiles) };
}
