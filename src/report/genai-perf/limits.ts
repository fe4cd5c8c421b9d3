import type { StatisticName } from "../../measure/numpy-statistics.ts";
import { GOODPUT_NAMES, LIMITS } from "../../measure/tokens/goodput.ts";
import { formatTwoDecimals } from "./python-format.ts";
import type { GenAiPerfResult } from "./result.ts";

/** Limits for the results of a run. */

/** One limit. */
export interface ResultLimit {
  /** Name in the JSON export. */
  readonly metric: string;
  readonly statistic: StatisticName;
  readonly bound: "most" | "least";
  /** Milliseconds, or a rate per second. */
  readonly value: number;
}

const STATISTICS: readonly StatisticName[] = [
  ...(["avg", "min", "max"] as const),
  ...(["p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"] as const),
];

/** Parses `METRIC` (its average) or `METRIC.STATISTIC`, such as `request_latency.p99`. Returns an error message for anything else. */
export function parseLimit(name: string, value: number): ResultLimit | string {
  const [metric = "", statistic = "avg", ...more] = name.split(".");
  const bound = LIMITS.get(metric)?.bound;
  if (bound === undefined) return `${metric} cannot be limited; use one of ${GOODPUT_NAMES.join(", ")}`;
  const known = STATISTICS.find((one) => one === statistic);
  if (known === undefined || more.length > 0)
    return `${name.slice(metric.length + 1)} is not a statistic; use one of ${STATISTICS.join(", ")}`;
  return { metric, statistic: known, bound, value };
}

/** Returns the broken limits with their values: `request_latency.p99 <= 200.00 ms: 231.07`. A metric that is absent breaks its limit. */
export function findBrokenLimits({ statistics }: GenAiPerfResult, limits: readonly ResultLimit[]): string[] {
  return limits.flatMap((limit) => {
    const measured = statistics.get(limit.metric)?.values.get(limit.statistic);
    if (measured === undefined) return [`${formatLimit(limit)}: not measured`];
    const isKept = limit.bound === "most" ? measured <= limit.value : measured >= limit.value;
    return isKept ? [] : [`${formatLimit(limit)}: ${formatTwoDecimals(measured)}`];
  });
}

/** Formats a limit: `request_latency.p99 <= 200.00 ms`. */
export function formatLimit({ metric, statistic, bound, value }: ResultLimit): string {
  const unit = bound === "most" ? " ms" : " per second";
  return `${metric}.${statistic} ${bound === "most" ? "<=" : ">="} ${formatTwoDecimals(value)}${unit}`;
}
