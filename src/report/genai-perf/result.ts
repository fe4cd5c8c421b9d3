import { goodCountOf } from "../../measure/good-requests.ts";
import { type StatisticName, summarize, sumOf } from "../../measure/numpy-statistics.ts";
import type { ResponseFamily } from "../../measure/tokens/metrics.ts";
import { systemMetrics } from "../../measure/tokens/row-measurement.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { findGood, type TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { nsToMs, nsToSec } from "../../plan/units.ts";
import { JSON_METRICS, type RequestMetric, type SystemMetric } from "./layout.ts";

/** GenAI-Perf's results, for its table, CSV and JSON. */

/** Statistics of one metric. System metrics have only `avg`. Times are in milliseconds. */
interface MetricStatistics {
  readonly unit: string;
  readonly values: ReadonlyMap<StatisticName, number>;
}

/** Statistics by metric name, in the order of the JSON. Metrics without data are omitted. */
export type Statistics = ReadonlyMap<string, MetricStatistics>;

/** GPU metrics by name, in the order of the reports: unit, and statistics by GPU. Constant metrics have only `avg`. */
export type TelemetryStatistics = ReadonlyMap<
  string,
  { readonly unit: string; readonly gpus: ReadonlyMap<string, ReadonlyMap<StatisticName, number>> }
>;

/** Data for GenAI-Perf's reports. */
export interface GenAiPerfResult {
  readonly family: ResponseFamily;
  /** GenAI-Perf's name: `chat`, `embeddings`, `image_retrieval`, … */
  readonly endpointType: string;
  readonly isStreaming: boolean;
  readonly hasGoodput: boolean;
  readonly statistics: Statistics;
  /** Statistics by session id; empty without sessions. */
  readonly sessions: ReadonlyMap<string, Statistics>;
  readonly telemetry?: TelemetryStatistics | undefined;
}

interface ResultSettings extends Pick<GenAiPerfResult, "family" | "endpointType" | "isStreaming" | "telemetry"> {
  /** Token metrics of the same requests, with the good requests; undefined if no goodput was requested. */
  readonly goodOf?: TokenMeasurement | undefined;
}

/** Computes GenAI-Perf's results from measured requests. */
export function toGenAiPerfResult(columns: TokenColumns, settings: ResultSettings): GenAiPerfResult {
  const { family, goodOf } = settings;
  const sessions = [...columns.sessions()].map(
    ([name, rows]) => [name, toStatistics(columns, family, undefined, rows)] as const,
  );
  return {
    family,
    endpointType: settings.endpointType,
    isStreaming: settings.isStreaming,
    hasGoodput: goodOf !== undefined,
    statistics: toStatistics(columns, family, goodOf),
    sessions: new Map(sessions),
    telemetry: settings.telemetry,
  };
}

const NS_TO_MS = nsToMs(1);
const UNKNOWN_GOODPUT = -1;

function toStatistics(
  columns: TokenColumns,
  family: ResponseFamily,
  goodOf: TokenMeasurement | undefined,
  rows?: readonly number[],
): Statistics {
  const system = systemMetrics(columns, rows);
  const durationSec = nsToSec(system.durationNs);
  const good = goodOf && findGood(goodOf);
  const { outputTokens } = columns.metrics;
  const hasTokens = rows === undefined ? !outputTokens.isEmpty : outputTokens.measured(rows).length > 0;
  const systemValues: Readonly<Record<SystemMetric["name"], number | undefined>> = {
    request_throughput: system.requestsPerSec,
    request_count: system.requestCount,
    // Without token counts, the throughput is missing, not 0.
    output_token_throughput: hasTokens ? system.outputTokensPerSec : undefined,
    request_goodput:
      goodOf && (good === undefined ? UNKNOWN_GOODPUT : durationSec > 0 ? goodCountOf(good) / durationSec : 0),
  };
  const statistics = new Map<string, MetricStatistics>();
  for (const metric of JSON_METRICS[family]) {
    const values = "column" in metric ? requestValues(columns, metric, rows) : toAverage(systemValues[metric.name]);
    if (values !== undefined) statistics.set(metric.name, { unit: metric.jsonUnit, values });
  }
  return statistics;
}

function toAverage(value: number | undefined): ReadonlyMap<StatisticName, number> | undefined {
  return value === undefined ? undefined : new Map([["avg", value]]);
}

function requestValues(
  columns: TokenColumns,
  { column, name }: RequestMetric,
  rows: readonly number[] | undefined,
): ReadonlyMap<StatisticName, number> | undefined {
  const values = columns.metrics[column].measured(rows);
  if (name === "inter_token_latency" && sumOf(values) === 0) return undefined;
  const summary = summarize(values, true);
  if (summary === undefined) return undefined;
  const scale = column.endsWith("Ns") ? NS_TO_MS : 1;
  return new Map(
    Object.entries(summary).map(([statistic, value]) => [statistic as StatisticName, value * scale] as const),
  );
}
