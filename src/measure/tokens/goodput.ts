import type { Plan } from "../../plan/plan.ts";
import type { GoodputPlan } from "../../plan/tokens.ts";
import { msToNs } from "../../plan/units.ts";
import { entryOf, familiesOf, isTimeMetric, type ResponseFamily, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import type { TokenColumns } from "./token-columns.ts";
import { isSameLimits } from "./token-measurement.ts";

/** Limits of a good request, by GenAI-Perf's metric names: maximum milliseconds, or a minimum rate. */
export type GoodputLimits = Readonly<Record<string, number>>;

/** GenAI-Perf's names of all metrics that can be limited, for all kinds of responses, and whether the limit is a maximum or a minimum. */
export const LIMITS: ReadonlyMap<string, { readonly metric: TokenMetric; readonly bound: "most" | "least" }> = new Map(
  TOKEN_METRICS.flatMap((metric) => {
    const { limit: bound, genaiPerf } = entryOf(metric);
    return bound === undefined || genaiPerf === undefined ? [] : [[genaiPerf.name, { metric, bound }]];
  }),
);

/** All names that can be limited, for all kinds of responses. */
export const GOODPUT_NAMES: readonly string[] = [...LIMITS.keys()];

/** Counts the requests that meet all limits: see {@link goodRows}. @returns undefined when a name is unknown */
export function countGood(columns: TokenColumns, family: ResponseFamily, limits: GoodputLimits): number | undefined {
  return goodRows(columns, family, limits)?.reduce((sum, isGood) => sum + isGood, 0);
}

/**
 * Returns 1 for each request that meets all limits, else 0. Each request is judged by its own values. GenAI-Perf pairs lists by position, which mixes
 * requests when one of them lacks a value. A missing value breaks no limit. Failed requests and requests without content are not good.
 *
 * @returns undefined when a name is unknown; GenAI-Perf reports a goodput of -1 for that
 */
export function goodRows(
  columns: TokenColumns,
  family: ResponseFamily,
  limits: GoodputLimits,
): Float64Array | undefined {
  const checks: { values: Float64Array; isBroken: (value: number, row: number) => boolean }[] = [];
  for (const [name, limit] of Object.entries(limits)) {
    const limited = LIMITS.get(name);
    if (limited === undefined || !familiesOf(limited.metric).includes(family)) return undefined;
    const bound = isTimeMetric(limited.metric) ? msToNs(limit) : limit;
    // A comparison with NaN is false.
    const isBeyond = limited.bound === "most" ? (value: number) => value > bound : (value: number) => value < bound;
    const lacksStream = entryOf(limited.metric).isStreamed === true && columns.unstreamedCount > 0;
    const firstNs = columns.metrics.timeToFirstTokenNs.view();
    // A request that asked for a stream and did not get one is not good.
    const isBroken = lacksStream
      ? (value: number, row: number) => isBeyond(value) || Number.isNaN(firstNs[row])
      : isBeyond;
    checks.push({ values: columns.metrics[limited.metric].view(), isBroken });
  }
  return Float64Array.from({ length: columns.count }, (_, row) =>
    checks.some(({ values, isBroken }) => isBroken(values[row] as number, row)) ? 0 : 1,
  );
}

/** Returns the different limits of the goodputs that a plan judges. */
export function goodputsOf({ assertions, limits = [] }: Pick<Plan, "assertions" | "limits">): GoodputPlan[] {
  const all = [...assertions, ...limits].flatMap(({ metric }) => (metric.limits === undefined ? [] : [metric.limits]));
  return all.filter((one, at) => all.findIndex((other) => isSameLimits(one, other)) === at);
}
