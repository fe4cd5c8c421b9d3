import { forEachValue, type Sketch } from "../../../src/measure/sketch.ts";
import type { AnsweredRequest } from "../../../src/measure/tokens/answered-request.ts";
import type { ResponseTimes } from "../../../src/measure/tokens/response-times.ts";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";

/** Measured requests for tests. */

/** A response whose content came at these milliseconds after the send, a token each unless said otherwise. */
export function makeTimes(contentMs: readonly number[], others: Partial<ResponseTimes> = {}): ResponseTimes {
  const contentNs = contentMs.map((ms) => ms * 1e6);
  return {
    contentNs,
    eventCount: contentNs.length,
    firstOutputNs: contentNs[0] ?? Number.NaN,
    firstReasoningNs: Number.NaN,
    outputTokens: contentNs.length,
    reasoningTokens: 0,
    ...others,
  };
}

/** Columns of these requests, sent at 0 with 7 tokens of input unless said otherwise. */
export function makeColumns(
  ...requests: readonly (Pick<AnsweredRequest, "times"> & Partial<AnsweredRequest>)[]
): TokenColumns {
  const columns = new TokenColumns();
  for (const request of requests) columns.add({ sendNs: 0, inputTokens: 7, ...request });
  return columns;
}

/** All values of a sketch, ascending; none without one. */
export function valuesOf(sketch: Sketch | undefined): number[] {
  const values: number[] = [];
  if (sketch !== undefined)
    forEachValue(sketch, (value, count) => values.push(...new Array<number>(count).fill(value)));
  return values;
}
