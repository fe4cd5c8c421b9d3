import { type AnswerFamily, entryOf, familiesOf, isTimeMetric, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import type { TokenColumns } from "./token-columns.ts";

/** What a good request keeps to, by GenAI-Perf's metric names: milliseconds at most, or a rate at least. */
export type GoodputLimits = Readonly<Record<string, number>>;

/** GenAI-Perf's names of all metrics that may be limited, whatever the answers are, by those that limit at most or at least. */
export const LIMITS: ReadonlyMap<string, { readonly metric: TokenMetric; readonly bound: "most" | "least" }> = new Map(
  TOKEN_METRICS.flatMap((metric) => {
    const { limit: bound, genaiPerf } = entryOf(metric);
    return bound === undefined || genaiPerf === undefined ? [] : [[genaiPerf.name, { metric, bound }]];
  }),
);

/** All names that may be limited, whatever the answers are. */
export const GOODPUT_NAMES: readonly string[] = [...LIMITS.keys()];

/**
 * How many requests keep to all limits. Each is judged by its own values: GenAI-Perf pairs lists by position, which mixes requests once
 * one of them lacks a value. A value that a request does not have breaks no limit. Requests that failed or had no content are not good.
 *
 * @returns undefined when a name is unknown; GenAI-Perf gives a goodput of -1 for that
 */
export function countGood(columns: TokenColumns, family: AnswerFamily, limits: GoodputLimits): number | undefined {
  const checks: { values: Float64Array; isBroken: (value: number, row: number) => boolean }[] = [];
  for (const [name, limit] of Object.entries(limits)) {
    const limited = LIMITS.get(name);
    if (limited === undefined || !familiesOf(limited.metric).includes(family)) return undefined;
    const bound = isTimeMetric(limited.metric) ? limit * 1e6 : limit;
    // A comparison with NaN is false.
    const isBeyond = limited.bound === "most" ? (value: number) => value > bound : (value: number) => value < bound;
    const lacksStream = entryOf(limited.metric).isStreamed === true && columns.unstreamedCount > 0;
    const firstNs = columns.metrics.timeToFirstTokenNs.view();
    // Whoever did not get the stream that was asked for got no good answer.
    const isBroken = lacksStream
      ? (value: number, row: number) => isBeyond(value) || Number.isNaN(firstNs[row])
      : isBeyond;
    checks.push({ values: columns.metrics[limited.metric].view(), isBroken });
  }
  let good = 0;
  for (let row = 0; row < columns.count; row++)
    if (!checks.some(({ values, isBroken }) => isBroken(values[row] as number, row))) good++;
  return good;
}
