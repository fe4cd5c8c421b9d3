import { meanOf, percentileOf } from "../../measure/statistics.ts";
import type { TokenColumns, TokenMetric } from "../../measure/tokens/token-metrics.ts";
import { outputTokensPerSec } from "../../measure/tokens/token-rates.ts";
import { tokenSamples } from "../../measure/tokens/token-samples.ts";
import { countUnmarkedEnds, tokenWarnings } from "../../measure/tokens/token-warnings.ts";
import type { WindowResult } from "../../measure/window.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { formatStreamNumber, toWholeUs } from "../number-format.ts";
import { formatTable, INDENTED_COLUMNS } from "./format.ts";

/** Tokens in Rampart's own reports. */

const PERCENTILES = [50, 90, 99] as const;
/** In the order of the table; what no request has is left out. */
const ROWS: readonly (readonly [metric: TokenMetric, name: string])[] = [
  ["timeToFirstTokenNs", "time to first token"],
  ["timeToFirstReasoningTokenNs", "time to first reasoning token"],
  ["timeToSecondTokenNs", "time to second token"],
  ["interTokenLatencyNs", "inter-token latency"],
  ["normalizedTimePerOutputTokenNs", "latency per output token"],
  ["outputTokensPerSecPerUser", "output tokens/s per user"],
  ["outputTokens", "output tokens"],
  ["reasoningTokens", "reasoning tokens"],
  ["inputTokens", "input tokens"],
  ["serverOutputTokens", "output tokens (server)"],
  ["serverReasoningTokens", "reasoning tokens (server)"],
  ["serverInputTokens", "input tokens (server)"],
];

interface Statistics {
  readonly count: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  readonly percentiles: readonly number[];
}

/** The table of a level's tokens, and what makes it say something else than it seems to; indented, lines joined. */
export function formatTokens(columns: TokenColumns, window: WindowResult, isStreamed: boolean): string {
  const rows = measuredRows(columns, isStreamed).map(([metric, name, { mean, max, percentiles }]) => {
    const format = metric.endsWith("Ns") ? formatDurationNs : formatCount;
    return [name, ...[mean, ...percentiles, max].map(format)];
  });
  const header = ["tokens", "average", ...PERCENTILES.map((percentile) => `p${percentile}`), "max"];
  const tokensPerSec = outputTokensPerSec(columns, window) ?? 0;
  const notes = [
    ...(tokensPerSec > 0 ? [`${formatCount(tokensPerSec)} output tokens/s`] : []),
    ...tokenWarnings(columns),
  ];
  const lines = columns.count === 0 ? [] : [...formatTable(header, rows, INDENTED_COLUMNS).split("\n"), ""];
  return [...lines, ...notes].map((line) => (line === "" ? "" : `  ${line}`)).join("\n");
}

/** Columns of a CSV for levels with tokens: times in microseconds, as all of the file's, and rates over the level's windows. */
export const TOKEN_CSV_COLUMNS: readonly string[] = [
  "Output Tokens/Second",
  "Avg Output Tokens",
  ...["Time To First Token", "Inter Token Latency"].flatMap((name) => [
    `Avg ${name}`,
    ...PERCENTILES.map((percentile) => `p${percentile} ${name}`),
  ]),
];

/** The cells of {@link TOKEN_CSV_COLUMNS}; empty where nothing was measured. */
export function tokenCsvCells(columns: TokenColumns, window: WindowResult, isStreamed: boolean): string[] {
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

/** A level's tokens as plain data: times in microseconds, rates over the level's own duration. */
export function toTokensJson(columns: TokenColumns, window: WindowResult, isStreamed: boolean): object {
  const metrics = measuredRows(columns, isStreamed).map(([metric, , { count, mean, min, max, percentiles }]) => {
    const isTime = metric.endsWith("Ns");
    const scale = (value: number): number => (isTime ? value / 1000 : value);
    const shown = PERCENTILES.map((percentile, index) => [`p${percentile}`, scale(percentiles[index] as number)]);
    return [
      isTime ? `${metric.slice(0, -2)}Us` : metric,
      { count, mean: scale(mean), min: scale(min), max: scale(max), ...(Object.fromEntries(shown) as object) },
    ];
  });
  return {
    requests: columns.count,
    withoutContent: columns.emptyCount,
    withoutEndMark: countUnmarkedEnds(columns),
    failed: columns.failedCount,
    durationSec: window.durationNs / 1e9,
    outputTokensPerSec: outputTokensPerSec(columns, window),
    metrics: Object.fromEntries(metrics) as object,
    warnings: tokenWarnings(columns),
  };
}

function measuredRows(columns: TokenColumns, isStreamed: boolean): [TokenMetric, string, Statistics][] {
  const samples = tokenSamples(columns, isStreamed);
  return ROWS.flatMap(([metric, name]): [TokenMetric, string, Statistics][] => {
    const values = samples.get(metric);
    return values === undefined ? [] : [[metric, name, toStatistics(values)]];
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
  };
}
