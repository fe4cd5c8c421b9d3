import { entryOf, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import type { TokenColumns } from "./token-columns.ts";

/**
 * Measured values by metric, without NaN, in the order of the requests. Leaves out metrics without values, and reasoning when there was
 * none.
 */
export type TokenSamples = ReadonlyMap<TokenMetric, Float64Array>;

/** Returns the metrics that reports show, in the order of their table. */
export function tokenSamples(columns: TokenColumns, isStreamed: boolean): TokenSamples {
  const shown = TOKEN_METRICS.filter((metric) => isStreamed || entryOf(metric).isStreamed !== true);
  const samples = shown.map((metric) => [metric, columns.metrics[metric].measured()] as const);
  return new Map(samples.filter(([metric, values]) => !isNothing(metric, values)));
}

function isNothing(metric: TokenMetric, values: Float64Array): boolean {
  const isReasoning = metric === "reasoningTokens" || metric === "serverReasoningTokens";
  return values.length === 0 || (isReasoning && values.every((value) => value === 0));
}
