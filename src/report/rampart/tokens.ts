import { certaintyOf } from "../../measure/intervals/certainty.ts";
import { estimateMean, type MeanEstimate } from "../../measure/intervals/mean-interval.ts";
import { type PercentileEstimate, percentileEstimator } from "../../measure/intervals/percentile-interval.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { meanOf, percentileOf } from "../../measure/statistics.ts";
import { entryOf, isTimeMetric, TOKEN_METRICS, type TokenMetric } from "../../measure/tokens/metrics.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { outputTokensPerSec } from "../../measure/tokens/token-rates.ts";
import { tokenSamples } from "../../measure/tokens/token-samples.ts";
import { tokenWarnings } from "../../measure/tokens/token-warnings.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { formatStreamNumber, toWholeUs } from "../number-format.ts";
import { formatNeeds, formatRange, MARK } from "./confidence-notes.ts";
import { formatTable, INDENTED_COLUMNS } from "./format.ts";

const PERCENTILES = [50, 90, 99] as const;

interface Statistics {
  readonly count: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  readonly percentiles: readonly number[];
  readonly average: MeanEstimate;
  /** Estimates any percentile with its interval. */
  readonly estimate: (percentile: number) => PercentileEstimate;
}

/** Formats the table of a level's tokens, and warnings about it; indented lines, joined. */
export function formatTokens(columns: TokenColumns, window: Measurement, isStreamed: boolean): string {
  const measured = measuredRows(columns, isStreamed);
  const rows = measured.map(toCells);
  const header = TOKEN_HEADER;
  const tokensPerSec = outputTokensPerSec(columns, window) ?? 0;
  const notes = [
    ...(tokensPerSec > 0 ? [`${formatCount(tokensPerSec)} output tokens/s`] : []),
    ...tokenWarnings(columns),
  ];
  const lines =
    columns.count === 0
      ? []
      : [...formatTable(header, rows, INDENTED_COLUMNS).split("\n"), "", ...formatIntervals(measured), ""];
  return [...lines, ...notes].map((line) => (line === "" ? "" : `  ${line}`)).join("\n");
}

/** The header of {@link tokenCells}. */
export const TOKEN_HEADER: readonly string[] = [
  "tokens",
  "average",
  ...PERCENTILES.map((percentile) => `p${percentile}`),
  "max",
];

/** Returns the rows of a table of tokens, with the rate of output tokens, for tables of several groups. */
export function tokenCells(columns: TokenColumns, window: Measurement, isStreamed: boolean): string[][] {
  const rate = outputTokensPerSec(columns, window) ?? 0;
  const rows = measuredRows(columns, isStreamed).map(toCells);
  return rate > 0 ? [...rows, ["output tokens/s", formatCount(rate), ...PERCENTILES.map(() => ""), ""]] : rows;
}

function toCells([metric, name, { mean, max, estimate }]: [TokenMetric, string, Statistics]): string[] {
  const format = isTimeMetric(metric) ? formatDurationNs : formatCount;
  const marked = PERCENTILES.map(estimate).map(({ value, isReliable }) => `${format(value)}${isReliable ? "" : MARK}`);
  return [name, format(mean), ...marked, format(max)];
}

/** Formats the intervals of times as a table, and what is too few for a percentile. */
function formatIntervals(measured: readonly [TokenMetric, string, Statistics][]): string[] {
  const times = measured.filter(([metric]) => isTimeMetric(metric));
  const rows = times.map(([, name, { count, average, estimate }]) => {
    const range = (one: MeanEstimate): string => {
      const found = certaintyOf(one);
      return found.isCertain ? formatRange(formatDurationNs(found.low), formatDurationNs(found.high)) : "-";
    };
    const samples = `${formatCount(count)} (${formatCount(Math.round(average.effectiveCount))})`;
    return [name, range(average), range(estimate(50)), range(estimate(99)), samples];
  });
  const needs = PERCENTILES.flatMap((percentile) => {
    const estimates = measured.map(([, , { estimate }]) => estimate(percentile));
    const [worst] = estimates.toSorted((a, b) => b.neededCount - a.neededCount);
    return worst === undefined ? [] : [[`p${percentile}`, worst] as const];
  });
  const header = ["95 % confidence", "average", "p50", "p99", "samples (independent)"];
  const table = rows.length === 0 ? [] : formatTable(header, rows, INDENTED_COLUMNS).split("\n");
  return [...table, ...formatNeeds(needs, { shape: { kind: "steady" } })];
}

/** Columns of a CSV for levels with tokens: times in microseconds like in the whole file, and rates over the level's windows. */
export const TOKEN_CSV_COLUMNS: readonly string[] = [
  "Output Tokens/Second",
  "Avg Output Tokens",
  ...["Time To First Token", "Inter Token Latency"].flatMap((name) => [
    `Avg ${name}`,
    ...PERCENTILES.map((percentile) => `p${percentile} ${name}`),
  ]),
];

/** Returns the cells of {@link TOKEN_CSV_COLUMNS}; empty ones when nothing was measured. */
export function tokenCsvCells(columns: TokenColumns, window: Measurement, isStreamed: boolean): string[] {
  const rows = new Map(measuredRows(columns, isStreamed).map(([metric, , statistics]) => [metric, statistics]));
  const time = (metric: TokenMetric): string[] => {
    const statistics = rows.get(metric);
    if (statistics === undefined) return new Array<string>(1 + PERCENTILES.length).fill("");
    return [statistics.mean, ...statistics.percentiles].map((ns) => String(toWholeUs(ns)));
  };
  const rate = outputTokensPerSec(columns, window);
  const outputTokens = rows.get("outputTokens");
  return [
    rate === undefined ? "" : formatStreamNumber(rate),
    outputTokens === undefined ? "" : formatStreamNumber(outputTokens.mean),
    ...time("timeToFirstTokenNs"),
    ...time("interTokenLatencyNs"),
  ];
}

function measuredRows(columns: TokenColumns, isStreamed: boolean): [TokenMetric, string, Statistics][] {
  const samples = tokenSamples(columns, isStreamed);
  return TOKEN_METRICS.flatMap((metric): [TokenMetric, string, Statistics][] => {
    const { isRow, label } = entryOf(metric);
    const values = isRow === true ? samples.get(metric) : undefined;
    return values === undefined ? [] : [[metric, label, toStatistics(values)]];
  });
}

function toStatistics(values: Float64Array): Statistics {
  const sorted = values.toSorted();
  return {
    count: values.length,
    mean: meanOf(values),
    min: sorted[0] as number,
    max: sorted.at(-1) as number,
    percentiles: PERCENTILES.map((percentile) => percentileOf(sorted, percentile)),
    average: estimateMean(values),
    estimate: percentileEstimator(values),
  };
}
