import { goodCountOf } from "../../../src/measure/good-requests.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import { estimateMetric } from "../../../src/measure/metrics/read-metric.ts";
import { forEachValue, type Sketch } from "../../../src/measure/sketch.ts";
import type { AnsweredRequest } from "../../../src/measure/tokens/answered-request.ts";
import { type GoodputLimits, toGoodputPlan } from "../../../src/measure/tokens/goodput.ts";
import type { ResponseFamily } from "../../../src/measure/tokens/metrics.ts";
import type { ResponseTimes } from "../../../src/measure/tokens/response-times.ts";
import { measureRows } from "../../../src/measure/tokens/row-measurement.ts";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { findGood, type TokenMeasurement } from "../../../src/measure/tokens/token-measurement.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";

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

/** The measurement of the requests of columns. */
export function measureAll(columns: TokenColumns): Measurement {
  const frame = { isScheduled: false, isStreamed: true, failedCount: 0, cancelledCount: 0 };
  return measureRows(columns, measureColumns(columns), frame);
}

/** A rate of the catalogue. */
export function rateOf(columns: TokenColumns, key: string): number | undefined {
  return estimateMetric({ key }, { window: measureAll(columns) }, 1)?.value;
}

/** The tokens of columns, with the requests that meet GenAI-Perf's limits. */
export function measureGood(
  columns: TokenColumns,
  limits: GoodputLimits,
  family: ResponseFamily = "text",
): TokenMeasurement {
  const plan = toGoodputPlan(limits, family);
  return measureColumns(columns, plan === undefined ? [] : [plan]);
}

/** Counts the requests that meet limits; undefined when they cannot be limited. */
export function countGood(columns: TokenColumns, family: ResponseFamily, limits: GoodputLimits): number | undefined {
  const good = findGood(measureGood(columns, limits, family));
  return good && goodCountOf(good);
}

/** All values of a sketch, ascending; none without one. */
export function valuesOf(sketch: Sketch | undefined): number[] {
  const values: number[] = [];
  if (sketch !== undefined)
    forEachValue(sketch, (value, count) => values.push(...new Array<number>(count).fill(value)));
  return values;
}
