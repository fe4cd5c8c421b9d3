import type { Measurement } from "../../measure/measurement.ts";
import { meanOf, percentileOf } from "../../measure/statistics.ts";
import type { TokenMetric } from "../../measure/tokens/metrics.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { outputTokensPerSec } from "../../measure/tokens/token-rates.ts";
import { tokenSamples } from "../../measure/tokens/token-samples.ts";
import { formatStreamNumber, toWholeUs } from "../number-format.ts";

const PERCENTILES = [50, 90, 99] as const;

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
  const samples = tokenSamples(columns, isStreamed);
  const time = (metric: TokenMetric): string[] => {
    const values = samples.get(metric);
    if (values === undefined) return new Array<string>(1 + PERCENTILES.length).fill("");
    const sorted = values.toSorted();
    const statistics = [meanOf(values), ...PERCENTILES.map((percentile) => percentileOf(sorted, percentile))];
    return statistics.map((ns) => String(toWholeUs(ns)));
  };
  const rate = outputTokensPerSec(columns, window);
  const outputTokens = samples.get("outputTokens");
  return [
    rate === undefined ? "" : formatStreamNumber(rate),
    outputTokens === undefined ? "" : formatStreamNumber(meanOf(outputTokens)),
    ...time("timeToFirstTokenNs"),
    ...time("interTokenLatencyNs"),
  ];
}
