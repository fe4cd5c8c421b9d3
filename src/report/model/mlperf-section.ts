import type { MlperfResult } from "../../measure/mlperf/judge-mlperf.ts";
import { type MlperfTokenTime, type MlperfTokenTimes, TOKEN_TIME_LABELS } from "../../measure/mlperf/judge-tokens.ts";
import type { MlperfLatency } from "../../measure/mlperf/latency-statistics.ts";
import { countOf, formatCount, plural } from "../../plan/units.ts";
import type { Section } from "./report-model.ts";
import { ofRun, type ReportView } from "./report-view.ts";
import { column, detail, makeTable } from "./tables.ts";
import { formatTime } from "./values.ts";

/** The result of an MLPerf scenario, with the names of LoadGen's summary. */

/** Builds the section of MLPerf's results; undefined for other loads. */
export function mlperfSection({ levels }: ReportView): Section | undefined {
  const tables = levels.flatMap(({ run, json: { mlperf } }) => {
    if (mlperf === undefined) return [];
    const title = ofRun(run, mlperf.scenario);
    return [
      makeTable<readonly [what: string, value: string]>(
        title,
        [column("what", "", "text", 0, ([what]) => what), column("value", "", "text", 0, ([, value]) => value)],
        mlperfRows(mlperf),
      ),
    ];
  });
  return tables.length === 0 ? undefined : { ...detail("mlperf", "MLPerf", tables), isSummary: true };
}

const TOKEN_TIMES = Object.keys(TOKEN_TIME_LABELS) as readonly (keyof MlperfTokenTimes)[];

function mlperfRows(result: MlperfResult): (readonly [string, string])[] {
  const { target, earlyStopping, p99Stopping, queryCount, sampleCount, tokens } = result;
  return [
    ["Result is", result.isValid ? "VALID" : "INVALID"],
    ...result.broken.map((reason, index) => [index === 0 ? "because" : "", reason] as const),
    ...ratesOf(result),
    ...(target === undefined ? [] : [[`p${target.percentile} latency`, formatTime(target.latencyNs)] as const]),
    ...(earlyStopping === undefined ? [] : [["early stopping", describeStop(earlyStopping)] as const]),
    ...(p99Stopping === undefined ? [] : [["early stopping, p99", describeStop(p99Stopping)] as const]),
    ...(tokens === undefined ? [] : TOKEN_TIMES.flatMap((name) => rowsOfTime(TOKEN_TIME_LABELS[name], tokens[name]))),
    ["queries", formatCount(queryCount)],
    ...(sampleCount === queryCount ? [] : [["samples", formatCount(sampleCount)] as const]),
    ...rangeOf("", result),
  ];
}

function rowsOfTime(label: string, time: MlperfTokenTime): (readonly [string, string])[] {
  const { target, limitNs, earlyStopping } = time;
  const limit = (latencyNs: number): string => `${formatTime(latencyNs)} (limit: ${formatTime(limitNs)})`;
  return [
    ...(target === undefined ? [] : [[`p${target.percentile} ${label}`, limit(target.latencyNs)] as const]),
    [`early stopping, ${label}`, describeStop(earlyStopping)],
    ...rangeOf(` ${label}`, time),
  ];
}

function rangeOf(label: string, { latencyNs, percentilesNs }: Partial<MlperfLatency>): (readonly [string, string])[] {
  if (latencyNs === undefined) return [];
  const { minNs, meanNs, maxNs } = latencyNs;
  const percentiles = Object.entries(percentilesNs ?? {});
  return [
    [`min, mean, max${label}`, [minNs, meanNs, maxNs].map((ns) => formatTime(ns)).join(", ")],
    [percentiles.map(([name]) => name).join(", "), percentiles.map(([, ns]) => formatTime(ns)).join(", ")],
  ];
}

function ratesOf(result: MlperfResult): (readonly [string, string])[] {
  const { samplesPerSec, completedPerSec, withoutOverheadPerSec, tokensPerSec, scenario } = result;
  const name = { "single-stream": "sent", "multi-stream": "sent", server: "scheduled", offline: "completed" }[scenario];
  const rows: readonly (readonly [string, number | undefined])[] = [
    [`samples/s ${name}`, samplesPerSec],
    ["samples/s completed", completedPerSec],
    ["tokens/s completed", tokensPerSec],
    ["1 / mean latency, per second", withoutOverheadPerSec],
  ];
  return rows.flatMap(([what, value]) => (value === undefined ? [] : [[what, formatCount(value)] as const]));
}

function describeStop(stop: NonNullable<MlperfResult["earlyStopping"]>): string {
  if ("missingCount" in stop)
    return stop.isMet
      ? `met with ${countOf(stop.overCount, "query", "queries")} over the limit`
      : `not met with ${countOf(stop.overCount, "query", "queries")} over the limit: ${formatCount(stop.missingCount)} more within it ${plural(stop.missingCount, "is", "are")} needed`;
  if (stop.estimate === undefined) return `not met: ${stop.neededCount} queries are needed`;
  const { latencyNs, discardedCount } = stop.estimate;
  return `at most ${formatTime(latencyNs)} with 99 % confidence (above it ${plural(discardedCount, "is", "are")} ${countOf(discardedCount, "latency", "latencies")})`;
}
