import { LEVEL_UNITS } from "../../load/level-units.ts";
import { inferPerSec, responsesPerSec } from "../../measure/derived-values.ts";
import { NO_READINGS } from "../../measure/gauge-readings.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { interpolatedPercentile, percentileUs } from "../../measure/sketch.ts";
import type { TokenMetric } from "../../measure/tokens/metrics.ts";
import { shownSketches } from "../../measure/tokens/token-measurement.ts";
import { sumPerSec } from "../../measure/tokens/token-rates.ts";
import { word } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import { formatStreamNumber, toWholeUs } from "../number-format.ts";
import type { Report, TextSink } from "../report.ts";
import { writeReport } from "../write-report.ts";
import { formatComposingCsv } from "./composing-csv.ts";
import { GPU_COLUMNS, gpuCells } from "./gpu-section.ts";
import { reportedLevels, reportedPercentiles } from "./reported-levels.ts";
import { meanServerTimes, serverColumnNames } from "./server-columns.ts";

/** perf_analyzer's CSV: one row per level, by ascending throughput; and a file for each model that the measured one calls. */

/** Creates the report. @param path of its file; those of composing models are in the same folder */
export function createPerfAnalyzerCsv(plan: Plan, sink: TextSink, path: string): Report {
  return {
    finish: (result) => {
      const levels = reportedLevels(result);
      if (levels.length === 0) return;
      const sorted = sortByThroughput(levels, plan.target.batchSize);
      const rows = sorted.map((level) => formatRow(level, plan, result, sink));
      const text = [formatHeader(plan, result), ...rows].map((row) => `${row.join(",")}\n`).join("");
      writeReport(path, text, "outputs.files.perfAnalyzerCsv");
      const { levelUnit, service } = result.prepared;
      const parts = { csvFile: path, batchSize: plan.target.batchSize, levelUnit, levels: sorted };
      const isResponseCacheEnabled = service.isResponseCacheEnabled === true;
      for (const file of formatComposingCsv({ ...parts, isResponseCacheEnabled }))
        writeReport(file.path, file.text, "outputs.files.perfAnalyzerCsv");
    },
  };
}

function sortByThroughput(levels: readonly LevelResult[], batchSize: number): LevelResult[] {
  return [...levels].sort((a, b) => inferPerSec(a.window, batchSize) - inferPerSec(b.window, batchSize));
}

function formatHeader(plan: Plan, result: RunResult): string[] {
  const { service, levelUnit } = result.prepared;
  const hasServer = result.levels.some((level) => level.hasServerCounters);
  return [
    LEVEL_UNITS[levelUnit].title,
    "Inferences/Second",
    ...(service.isDecoupled ? ["Response Throughput"] : []),
    "Client Send",
    ...(hasServer ? serverColumnNames(service.isResponseCacheEnabled === true) : []),
    "Client Recv",
    ...reportedPercentiles(plan.measurement.percentile).map((percentile) => `p${percentile} latency`),
    ...(plan.outputs.isVerboseCsv
      ? [
          ...(plan.measurement.percentile === null ? ["Avg latency"] : []),
          "request/response",
          "response wait",
          ...(plan.telemetry.metrics === null ? [] : GPU_COLUMNS),
        ]
      : []),
    ...(tokensPlanOf(plan) === undefined ? [] : TOKEN_CSV_COLUMNS),
  ];
}

function formatRow(measured: LevelResult, plan: Plan, result: RunResult, sink: TextSink): (string | number)[] {
  const { level, window, hasServerCounters } = measured;
  const { service } = result.prepared;
  const sendUs = toWholeUs(window.sendMeanNs);
  const receiveUs = toWholeUs(window.receiveMeanNs);
  const meanUs = toWholeUs(window.latency.mean);
  return [
    formatStreamNumber(level),
    formatStreamNumber(inferPerSec(window, plan.target.batchSize)),
    ...(service.isDecoupled ? [formatStreamNumber(responsesPerSec(window))] : []),
    sendUs,
    ...(!hasServerCounters ? [] : serverColumns(window, service.isResponseCacheEnabled === true, sink)),
    receiveUs,
    ...reportedPercentiles(plan.measurement.percentile).map((percentile) =>
      window.requestCount === 0 ? "" : percentileUs(window.latency, percentile),
    ),
    ...(plan.outputs.isVerboseCsv
      ? [
          ...(plan.measurement.percentile === null ? [meanUs] : []),
          sendUs + receiveUs,
          Math.max(0, meanUs - sendUs - receiveUs),
          ...(plan.telemetry.metrics === null ? [] : gpuCells(window.gauges ?? NO_READINGS)),
        ]
      : []),
    ...(tokensPlanOf(plan) === undefined ? [] : tokenCsvCells(window)),
  ];
}

function serverColumns(window: LevelResult["window"], isCached: boolean, sink: TextSink): number[] {
  const delta = window.server;
  // Without statistics of this level, keep the columns empty, so that all rows have the same number.
  if (delta === undefined) return new Array<number>(isCached ? 7 : 5).fill(0);
  const times = meanServerTimes(delta);
  const waitNs = window.latency.mean - window.sendMeanNs - window.receiveMeanNs;
  const networkNs = Math.max(0, waitNs - times.accountedNs);
  if (networkNs === 0) {
    sink.err(`${word({ say: "network-below-zero" }, sink.nameOf)}\n`);
  }
  return [networkNs, ...times.columnsNs(isCached)].map(toWholeUs);
}

const PERCENTILES = [50, 90, 99] as const;

/** Columns of a CSV for levels with tokens: times in microseconds like in the whole file, and rates over the level's windows. */
const TOKEN_CSV_COLUMNS: readonly string[] = [
  "Output Tokens/Second",
  "Avg Output Tokens",
  ...["Time To First Token", "Inter Token Latency"].flatMap((name) => [
    `Avg ${name}`,
    ...PERCENTILES.map((percentile) => `p${percentile} ${name}`),
  ]),
];

/** Returns the cells of {@link TOKEN_CSV_COLUMNS}; empty ones when nothing was measured. */
function tokenCsvCells(window: Measurement): string[] {
  const samples = shownSketches(window);
  const time = (metric: TokenMetric): string[] => {
    const sample = samples.get(metric);
    if (sample === undefined) return new Array<string>(1 + PERCENTILES.length).fill("");
    const statistics = [sample.mean, ...PERCENTILES.map((percentile) => interpolatedPercentile(sample, percentile))];
    return statistics.map((ns) => String(toWholeUs(ns)));
  };
  const rate = window.tokens && sumPerSec([window.tokens.metrics.outputTokens], window);
  const outputTokens = samples.get("outputTokens");
  return [
    rate === undefined ? "" : formatStreamNumber(rate),
    outputTokens === undefined ? "" : formatStreamNumber(outputTokens.mean),
    ...time("timeToFirstTokenNs"),
    ...time("interTokenLatencyNs"),
  ];
}
