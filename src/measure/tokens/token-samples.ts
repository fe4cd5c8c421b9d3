import { entryOf, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import type { TokenColumns } from "./token-columns.ts";

/**
 * What was measured, by metric: values without NaN, in the order of the requests. What no request has is not in it, nor is reasoning of
 * which there was none.
 */
export type TokenSamples = ReadonlyMap<TokenMetric, Float64Array>;

/** The metrics that reports show, in the order of their table. */
export function tokenSamples(columns: TokenColumns, isStreamed: boolean): TokenSamples {
  const shown = TOKEN_METRICS.filter((metric) => isStreamed || entryOf(metric).isStreamed !== true);
  const samples = shown.map((metric) => [metric, columns.metrics[metric].measured()] as const);
  return new Map(samples.filter(([metric, values]) => !isNothing(metric, values)));
}

function isNothing(metric: TokenMetric, values: Float64Array): boolean {
  const isReasoning = metric === "reasoningTokens" || metric === "serverReasoningTokens";
  return values.length === 0 || (isReasoning && values.every((value) => value === 0));
}
