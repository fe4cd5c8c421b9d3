import type { GoodputPlan } from "../../plan/tokens.ts";
import { msToNs } from "../../plan/units.ts";
import {
  entryOf,
  familiesOf,
  findLimited,
  isTimeMetric,
  limitedName,
  type ResponseFamily,
  TOKEN_METRICS,
  type TokenMetric,
} from "./metrics.ts";

/** Limits of a good request, by GenAI-Perf's metric names: a maximum in milliseconds, or a minimum rate. */
export type GoodputLimits = Readonly<Record<string, number>>;

/** GenAI-Perf's names of all metrics that can have limits, for all kinds of responses, and whether the limit is a maximum or a minimum. */
export const LIMITS: ReadonlyMap<string, { readonly metric: TokenMetric; readonly bound: "most" | "least" }> = new Map(
  TOKEN_METRICS.flatMap((metric) => {
    const { limit: bound, genaiPerf } = entryOf(metric);
    return bound === undefined || genaiPerf === undefined ? [] : [[genaiPerf.name, { metric, bound }]];
  }),
);

/** All names that can have limits, for all kinds of responses. */
export const GOODPUT_NAMES: readonly string[] = [...LIMITS.keys()];

/** Returns a metric of one request; NaN without a value. */
export type ReadMetric = (metric: TokenMetric) => number;

/**
 * Reports whether a request meets all limits, by its own values. GenAI-Perf pairs lists by position, which mixes requests if
 * one of them lacks a value. A missing value breaks no limit, unless a requested stream did not arrive as a stream.
 */
export function isGood(limits: GoodputPlan, read: ReadMetric): boolean {
  return Object.entries(limits).every(([name, limit]) => {
    const metric = findLimited(name) as TokenMetric;
    const { isStreamed, limit: bound } = entryOf(metric);
    if (isStreamed === true && Number.isNaN(read("timeToFirstTokenNs"))) return false;
    const value = read(metric);
    return Number.isNaN(value) || (bound === "most" ? value <= limit : value >= limit);
  });
}

/** Converts GenAI-Perf's limits to those of a plan; undefined if a name is unknown, or belongs to another family of responses. */
export function toGoodputPlan(limits: GoodputLimits, family: ResponseFamily): GoodputPlan | undefined {
  const found = Object.entries(limits).map(([name, limit]) => {
    const metric = LIMITS.get(name)?.metric;
    if (metric === undefined || !familiesOf(metric).includes(family)) return undefined;
    return [limitedName(metric), isTimeMetric(metric) ? msToNs(limit) : limit] as const;
  });
  return found.includes(undefined) ? undefined : Object.fromEntries(found.filter((one) => one !== undefined));
}
