import type { StatisticName } from "../../measure/statistics.ts";
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

/** A limit and whether it was met. */
export interface ResultVerdict {
  readonly limit: ResultLimit;
  /** Undefined if the run has no such number. The limit then counts as broken. */
  readonly measured: number | undefined;
  readonly isKept: boolean;
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

/** Compares a result with limits, in their order. */
export function judgeLimits(result: GenAiPerfResult, limits: readonly ResultLimit[]): ResultVerdict[] {
  return limits.map((limit) => {
    const measured = result.statistics.get(limit.metric)?.values.get(limit.statistic);
    const isKept =
      measured !== undefined && (limit.bound === "most" ? measured <= limit.value : measured >= limit.value);
    return { limit, measured, isKept };
  });
}

/** Formats a limit: `request_latency.p99 <= 200.00 ms`. */
export function formatLimit({ metric, statistic, bound, value }: ResultLimit): string {
  const unit = bound === "most" ? " ms" : " per second";
  return `${metric}.${statistic} ${bound === "most" ? "<=" : ">="} ${formatTwoDecimals(value)}${unit}`;
}

/** Formats a limit with the measured value: `request_latency.p99 <= 200.00 ms: 231.07`. */
export function formatVerdict({ limit, measured }: ResultVerdict): string {
  return `${formatLimit(limit)}: ${measured === undefined ? "not measured" : formatTwoDecimals(measured)}`;
}
