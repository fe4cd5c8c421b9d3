import type { Measurement } from "../../measure/measurement.ts";
import { interpolatedPercentile } from "../../measure/sketch.ts";
import type { TokenMetric } from "../../measure/tokens/metrics.ts";
import { shownSketches } from "../../measure/tokens/token-measurement.ts";
import { outputTokensPerSec } from "../../measure/tokens/token-rates.ts";
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
export function tokenCsvCells(window: Measurement): string[] {
  const samples = shownSketches(window);
  const time = (metric: TokenMetric): string[] => {
    const sample = samples.get(metric);
    if (sample === undefined) return new Array<string>(1 + PERCENTILES.length).fill("");
    const statistics = [sample.mean, ...PERCENTILES.map((percentile) => interpolatedPercentile(sample, percentile))];
    return statistics.map((ns) => String(toWholeUs(ns)));
  };
  const rate = window.tokens && outputTokensPerSec(window.tokens, window);
  const outputTokens = samples.get("outputTokens");
  return [
    rate === undefined ? "" : formatStreamNumber(rate),
    outputTokens === undefined ? "" : formatStreamNumber(outputTokens.mean),
    ...time("timeToFirstTokenNs"),
    ...time("interTokenLatencyNs"),
  ];
}
