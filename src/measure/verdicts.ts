import type { AssertionPlan, MetricPlan } from "../plan/assertions.ts";
import { formatDurationNs } from "../plan/units.ts";
import type { ExtractedColumn } from "./extracted-tally.ts";
import { errorRatio, inferPerSec } from "./metrics.ts";
import type { TokenColumns } from "./tokens/token-columns.ts";
import {
  explainNoValue,
  formatTokenMetric,
  isTokenMetric,
  tokenMetricText,
  tokenMetricValue,
} from "./tokens/token-verdicts.ts";
import type { WindowResult } from "./window.ts";

/** The measurement of one level. */
export interface JudgedLevel {
  readonly level: number;
  readonly window: WindowResult;
  /** Token metrics of its responses, when measured. */
  readonly tokens?: TokenColumns | undefined;
}

/** The result of an assertion. It is met when it holds at every level. */
export interface Verdict {
  readonly assertion: AssertionPlan;
  readonly isMet: boolean;
  /** The level with the worst value; undefined without a measurement. */
  readonly level: number | undefined;
  /** The worst value: nanoseconds, a rate, a count or a ratio; undefined without a measurement. */
  readonly measured: number | undefined;
  /** Why there is no value, when known. */
  readonly reason?: string | undefined;
  /** The assertion as text: `p99 latency below 25 ms`. */
  readonly text: string;
}

/** The unit of throughput of most targets. */
const DEFAULT_UNIT = "infer/s";

/** Evaluates an assertion at all levels. Without a measurement it is not met. @param unit of throughput */
export function judge(
  assertion: AssertionPlan,
  levels: readonly JudgedLevel[],
  batchSize: number,
  unit: string = DEFAULT_UNIT,
): Verdict {
  const values = levels.map((measured) => ({
    level: measured.level,
    value: metricValue(assertion.metric, measured, batchSize),
  }));
  const known = values.filter((entry): entry is { level: number; value: number } => entry.value !== undefined);
  const worst = known.sort((a, b) => badness(assertion, b.value) - badness(assertion, a.value))[0];
  return {
    assertion,
    isMet: known.length === levels.length && known.length > 0 && known.every(({ value }) => holds(assertion, value)),
    level: worst?.level,
    measured: worst?.value,
    reason: known.length === levels.length ? undefined : findReason(assertion.metric, levels),
    text: describe(assertion, unit),
  };
}

function findReason(metric: MetricPlan, levels: readonly JudgedLevel[]): string | undefined {
  if (metric.kind === "extracted") return "no answer had a number there";
  if (!isTokenMetric(metric)) return undefined;
  for (const { tokens, window } of levels) {
    const reason = tokens && explainNoValue(metric, tokens, window);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Returns a metric's value; undefined when the window has no data for it. */
export function metricValue(
  metric: MetricPlan,
  { window, tokens }: JudgedLevel,
  batchSize: number,
): number | undefined {
  if (isTokenMetric(metric)) return tokens === undefined ? undefined : tokenMetricValue(metric, tokens, window);
  if (metric.kind === "error-ratio")
    return window.requestCount + window.failedCount === 0 ? undefined : errorRatio(window);
  if (metric.kind === "throughput") return inferPerSec(window, batchSize);
  if (metric.kind === "extracted") return extractedValue(metric, window.extracted?.find(metric.name));
  if (window.requestCount === 0) return undefined;
  const tally = metric.of === "latency" ? window.latency : window.scheduledLatency;
  return metric.kind === "latency-average" ? tally.meanNs : tally.percentileUs(metric.percentile) * 1000;
}

function extractedValue(
  { statistic, percentile }: Extract<MetricPlan, { kind: "extracted" }>,
  column: ExtractedColumn | undefined,
): number | undefined {
  if (column === undefined || column.numberCount === 0) return undefined;
  if (statistic === "percentile") return column.percentile(percentile ?? 50);
  return statistic === "average" ? column.mean : column[statistic];
}

function holds({ comparison, limit }: AssertionPlan, value: number): boolean {
  switch (comparison) {
    case "below":
      return value < limit;
    case "at-most":
      return value <= limit;
    case "above":
      return value > limit;
    case "at-least":
      return value >= limit;
    case "is":
      return value === limit;
  }
}

/** Returns how far a value is on the wrong side of the limit. */
function badness({ comparison, limit }: AssertionPlan, value: number): number {
  if (comparison === "is") return Math.abs(value - limit);
  return comparison === "below" || comparison === "at-most" ? value - limit : limit - value;
}

const COMPARISON_TEXT: Readonly<Record<AssertionPlan["comparison"], string>> = {
  below: "below",
  "at-most": "at most",
  above: "above",
  "at-least": "at least",
  is: "is",
};

function describe({ metric, comparison, limit }: AssertionPlan, unit: string): string {
  return `${metricName(metric)} ${COMPARISON_TEXT[comparison]} ${formatMetric(metric, limit, unit)}`;
}

function metricName(metric: MetricPlan): string {
  if (isTokenMetric(metric)) return tokenMetricText(metric);
  if (metric.kind === "throughput") return "throughput";
  if (metric.kind === "error-ratio") return "error rate";
  if (metric.kind === "extracted")
    return `${metric.statistic === "percentile" ? `p${metric.percentile}` : metric.statistic} ${metric.name}`;
  const of = metric.of === "latency" ? "latency" : "scheduled latency";
  return metric.kind === "latency-average" ? `average ${of}` : `p${metric.percentile} ${of}`;
}

/** Formats a metric's value with its unit. @param unit of throughput */
export function formatMetric(metric: MetricPlan, value: number, unit: string = DEFAULT_UNIT): string {
  if (isTokenMetric(metric)) return formatTokenMetric(metric, value);
  if (metric.kind === "throughput") return `${Number(value.toPrecision(6))} ${unit}`;
  if (metric.kind === "extracted") return String(Number(value.toPrecision(6)));
  if (metric.kind === "error-ratio") return `${Number((value * 100).toPrecision(4))} %`;
  return formatDurationNs(value);
}
