import { TOKEN_METRICS, type TokenColumns, type TokenMetric } from "./token-metrics.ts";

/** Metrics that say something only where answers are streamed. */
export const STREAMED_METRICS: ReadonlySet<TokenMetric> = new Set([
  "timeToFirstTokenNs",
  "timeToFirstOutputTokenNs",
  "timeToFirstReasoningTokenNs",
  "timeToSecondTokenNs",
  "interTokenLatencyNs",
  "outputTokensPerSecPerUser",
  "bunchedRatio",
]);

/**
 * What was measured, by metric: values without NaN, in the order of the requests. What no request has is not in it, nor is reasoning of
 * which there was none.
 */
export type TokenSamples = ReadonlyMap<TokenMetric, Float64Array>;

/** The metrics that reports show, in the order of `TOKEN_METRICS`. */
export function tokenSamples(columns: TokenColumns, isStreamed: boolean): TokenSamples {
  const shown = TOKEN_METRICS.filter((metric) => isStreamed || !STREAMED_METRICS.has(metric));
  const samples = shown.map((metric) => [metric, columns.metrics[metric].measured()] as const);
  return new Map(samples.filter(([metric, values]) => !isNothing(metric, values)));
}

function isNothing(metric: TokenMetric, values: Float64Array): boolean {
  const isReasoning = metric === "reasoningTokens" || metric === "serverReasoningTokens";
  return values.length === 0 || (isReasoning && values.every((value) => value === 0));
}
