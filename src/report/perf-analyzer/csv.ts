import { LEVEL_UNITS } from "../../load/level-units.ts";
import { inferPerSec, responsesPerSec } from "../../measure/derived-values.ts";
import { NO_READINGS } from "../../measure/gauge-readings.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { flattenComposing, type ServerDelta } from "../../measure/server-delta.ts";
import { interpolatedPercentile, percentileUs } from "../../measure/sketch.ts";
import type { TokenMetric } from "../../measure/tokens/metrics.ts";
import { shownSketches, sumPerSec } from "../../measure/tokens/token-measurement.ts";
import { word } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import { writeReport } from "../output-file.ts";
import type { Report, TextSink } from "../report.ts";
import { GPU_COLUMNS, gpuCells } from "./gpu-section.ts";
import { formatStreamNumber, toWholeUs } from "./number-format.ts";
import { reportedLevels, reportedPercentiles } from "./reported-levels.ts";

/** perf_analyzer's CSV: one row per level, by ascending throughput; and a file for each model that the measured one calls. */

/** Creates the report. @param path of the file; the files of composing models are in the same folder */
export function createPerfAnalyzerCsv(plan: Plan, sink: TextSink, path: string): Report {
  return {
    finish: (result) => {
      const levels = reportedLevels(result);
      if (levels.length === 0) return;
      const perSec = ({ window }: LevelResult): number => inferPerSec(window, plan.target.batchSize);
      const sorted = levels.toSorted((a, b) => perSec(a) - perSec(b));
      const rows = sorted.map((level) => formatRow(level, plan, result, sink));
      writeReport(path, joinRows([formatHeader(plan, result), ...rows]), "outputs.files.perfAnalyzerCsv");
      const { levelUnit, service } = result.prepared;
      const parts = { csvFile: path, batchSize: plan.target.batchSize, levelUnit, levels: sorted };
      const isResponseCacheEnabled = service.isResponseCacheEnabled === true;
      for (const file of formatComposingCsv({ ...parts, isResponseCacheEnabled }))
        writeReport(file.path, file.text, "outputs.files.perfAnalyzerCsv");
    },
  };
}

function joinRows(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.join(",")}\n`).join("");
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
  // Without statistics for this level, keeps the columns, so that all rows have the same number.
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

/** CSV columns for levels with tokens: times in microseconds like in the whole file, and rates over the level's windows. */
const TOKEN_CSV_COLUMNS: readonly string[] = [
  "Output Tokens/Second",
  "Avg Output Tokens",
  ...["Time To First Token", "Inter Token Latency"].flatMap((name) => [
    `Avg ${name}`,
    ...PERCENTILES.map((percentile) => `p${percentile} ${name}`),
  ]),
];

/** Returns the cells of {@link TOKEN_CSV_COLUMNS}; empty cells if nothing was measured. */
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

interface MeanServerTimes {
  /** Sum of queue, compute, and cache. */
  readonly accountedNs: number;
  /** Returns queue, compute input, infer and output; with a cache also its hits and misses. */
  columnsNs(hasCache: boolean): number[];
}

/** Returns the names of the columns: the network time, then {@link MeanServerTimes}. */
function serverColumnNames(hasCache: boolean): string[] {
  const compute = ["Input", "Infer", "Output"].map((part) => `Server Compute ${part}`);
  const cache = hasCache ? ["Server Cache Hit", "Server Cache Miss"] : [];
  return ["Network+Server Send/Recv", "Server Queue", ...compute, ...cache];
}

/** Computes the mean times of an increase of counters, in whole nanoseconds rounded like in perf_analyzer. */
function meanServerTimes(delta: ServerDelta): MeanServerTimes {
  const mean = (totalNs: number, count: number): number => (count === 0 ? 0 : Math.floor(totalNs / count));
  const queueNs = mean(delta.queueNs, delta.queueCount);
  const computeNs = mean(delta.computeInputNs + delta.computeInferNs + delta.computeOutputNs, delta.computeInputCount);
  const hitNs = mean(delta.cacheHitNs, delta.cacheHitCount);
  const missNs = mean(delta.cacheMissNs, delta.cacheMissCount);
  return {
    accountedNs: queueNs + computeNs + hitNs + missNs,
    columnsNs: (hasCache) => [
      queueNs,
      mean(delta.computeInputNs, delta.computeInputCount),
      mean(delta.computeInferNs, delta.computeInferCount),
      mean(delta.computeOutputNs, delta.computeOutputCount),
      ...(hasCache ? [hitNs, missNs] : []),
    ],
  };
}

/** Parts of the composing models' CSV files, which have a row per level with server times only. */
interface ComposingCsvParts {
  /** Path of the measured model's file. */
  readonly csvFile: string;
  readonly batchSize: number;
  readonly levelUnit: LevelResult["unit"];
  readonly isResponseCacheEnabled: boolean;
  /** In the order of the rows. */
  readonly levels: readonly LevelResult[];
}

/** Returns a file for each composing model, in the folder of the measured model's file: for `a/out.csv`, `a/MODEL_v1.out.csv`. */
function formatComposingCsv(parts: ComposingCsvParts): { readonly path: string; readonly text: string }[] {
  const models: ServerDelta[] = [];
  for (const { window } of parts.levels) {
    if (window.server === undefined) continue;
    for (const delta of flattenComposing(window.server)) if (!models.some(isLike(delta))) models.push(delta);
  }
  const slash = parts.csvFile.lastIndexOf("/") + 1;
  const [folder, file] = [parts.csvFile.slice(0, slash), parts.csvFile.slice(slash)];
  return models.map((model) => ({
    path: `${folder}${model.name}_v${model.version === "" ? "unknown" : model.version}.${file}`,
    text: joinRows([composingHeader(parts), ...parts.levels.map((level) => composingRow(level, model, parts))]),
  }));
}

function isLike(model: ServerDelta): (other: ServerDelta) => boolean {
  return ({ name, version }) => name === model.name && version === model.version;
}

function composingHeader({ levelUnit, isResponseCacheEnabled }: ComposingCsvParts): string[] {
  return [
    LEVEL_UNITS[levelUnit].title,
    "Inferences/Second",
    "Client Send",
    ...serverColumnNames(isResponseCacheEnabled),
    "Client Recv",
  ];
}

function composingRow(
  { level, window }: LevelResult,
  model: ServerDelta,
  { batchSize, isResponseCacheEnabled }: ComposingCsvParts,
): (string | number)[] {
  const top = window.server;
  const delta = top === undefined ? undefined : flattenComposing(top).find(isLike(model));
  const times = delta === undefined ? undefined : meanServerTimes(delta);
  const totalNs = delta === undefined || delta.successCount === 0 ? 0 : delta.successNs / delta.successCount;
  // The model's rate is proportional to its number of inferences per inference of the measured model.
  const ratio =
    top === undefined || delta === undefined || top.successCount === 0 ? 0 : delta.successCount / top.successCount;
  return [
    formatStreamNumber(level),
    formatStreamNumber(ratio * inferPerSec(window, batchSize)),
    0,
    toWholeUs(times === undefined ? 0 : Math.max(0, Math.floor(totalNs) - times.accountedNs)),
    ...(times?.columnsNs(isResponseCacheEnabled) ?? new Array<number>(isResponseCacheEnabled ? 6 : 4).fill(0)).map(
      toWholeUs,
    ),
    0,
  ];
}
