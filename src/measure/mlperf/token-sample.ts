import type { TokenColumns } from "../tokens/token-columns.ts";

/** Token times of an MLPerf scenario, as LoadGen defines them. */
export interface MlperfTokenSample {
  /** Times from the due time of a request to its first token, in ascending order; only for requests with a streamed token. */
  readonly firstTokenNs: Float64Array;
  /**
   * LoadGen's TPOT: from the first to the last token, divided by the number of tokens after the first and rounded down, in
   * ascending order; only for requests with at least two tokens.
   */
  readonly perTokenNs: Float64Array;
  /** Number of tokens of all responses, including reasoning. */
  readonly tokenCount: number;
  /** Number of responses whose number of tokens is unknown. */
  readonly uncountedCount: number;
}

/** Takes the token times of a level. Reasoning tokens are included, because the server generates them too. */
export function sampleTokens({ waitNs, metrics, count }: TokenColumns): MlperfTokenSample {
  const firstTokenNs: number[] = [];
  const perTokenNs: number[] = [];
  let tokenCount = 0;
  let uncountedCount = 0;
  for (let row = 0; row < count; row++) {
    const reasoning = metrics.reasoningTokens.at(row);
    const tokens = metrics.outputTokens.at(row) + (Number.isNaN(reasoning) ? 0 : reasoning);
    if (Number.isNaN(tokens)) uncountedCount++;
    else tokenCount += tokens;
    const firstNs = leastOf(metrics.timeToFirstTokenNs.at(row), metrics.timeToFirstReasoningTokenNs.at(row));
    if (Number.isNaN(firstNs)) continue;
    firstTokenNs.push(waitNs.at(row) + firstNs);
    if (tokens >= 2) perTokenNs.push(Math.floor((metrics.requestLatencyNs.at(row) - firstNs) / (tokens - 1)));
  }
  return {
    firstTokenNs: Float64Array.from(firstTokenNs).sort(),
    perTokenNs: Float64Array.from(perTokenNs).sort(),
    tokenCount,
    uncountedCount,
  };
}

/** Returns the lower of two values. NaN is ignored unless both are NaN. */
function leastOf(a: number, b: number): number {
  return Number.isNaN(b) || a < b ? a : b;
}
