import type { AssertionPlan, MetricPlan } from "../../plan/assertions.ts";
import type { GoodputPlan } from "../../plan/tokens.ts";
import { formatDurationNs, nsToMs } from "../../plan/units.ts";
import { batchMeansOf, effectiveCount, INTERVAL_CONFIDENCE } from "../intervals/effective-count.ts";
import { estimateMean } from "../intervals/mean-interval.ts";
import {
  judgeInterval,
  judgePercentile,
  judgeValue,
  LEAST_JUDGED_COUNT,
  type SampleAbove,
  type VerdictState,
} from "../limits/verdict-state.ts";
import type { Measurement } from "../measurement.ts";
import { meanOf, percentileOf } from "../statistics.ts";
import { type GoodputLimits, goodRows } from "./goodput.ts";
import { entryOf, findAsserted, isTimeMetric, type TokenMetric } from "./metrics.ts";
import type { TokenColumns } from "./token-columns.ts";
import { goodPerSec, outputTokensPerSec } from "./token-rates.ts";
import { explainNoRates, explainUnstreamed } from "./token-warnings.ts";

/** Token metrics in assertions. */

/** A metric that needs the tokens of answers. */
export type TokenMetricPlan = Extract<
  MetricPlan,
  { kind: "token-percentile" | "token-average" | "output-tokens-per-sec" | "goodput" }
>;

const TOKEN_KINDS: ReadonlySet<MetricPlan["kind"]> = new Set([
  "token-percentile",
  "token-average",
  "output-tokens-per-sec",
  "goodput",
]);

/** Reports whether a metric needs the tokens of answers. */
export function isTokenMetric(metric: MetricPlan): metric is TokenMetricPlan {
  return TOKEN_KINDS.has(metric.kind);
}

/** Returns its value: nanoseconds, a count, or a rate over the window; undefined when no request has one. */
export function tokenMetricValue(
  metric: TokenMetricPlan,
  columns: TokenColumns,
  window: Measurement,
): number | undefined {
  if (metric.kind === "output-tokens-per-sec") return outputTokensPerSec(columns, window);
  if (metric.kind === "goodput") {
    const isKnown = columns.unstreamedCount < columns.count || !needsStreams(metric);
    return isKnown ? goodPerSec(columns, window, toNamedLimits(metric.limits)) : undefined;
  }
  const values = tokenSampleOf(metric.of, columns);
  if (values.length === 0) return undefined;
  return metric.kind === "token-average" ? meanOf(values) : percentileOf(values.toSorted(), metric.percentile);
}

/** Judges a token metric that has a value. Rates and goodput count as exact. */
export function judgeTokenMetric(
  assertion: AssertionPlan,
  metric: TokenMetricPlan,
  columns: TokenColumns,
  value: number,
): VerdictState {
  if (metric.kind === "token-percentile" && assertion.comparison !== "is")
    return judgePercentile(
      assertion.comparison,
      metric.percentile,
      valuesAbove(tokenSampleOf(metric.of, columns), assertion),
    );
  if (metric.kind === "token-average") {
    const average = estimateMean(tokenSampleOf(metric.of, columns), { leastCount: LEAST_JUDGED_COUNT });
    return judgeInterval(assertion, average);
  }
  return judgeValue(assertion, value);
}

/**
 * Returns how many values are on the upper side of an assertion's limit.
 * @param values in the order of the requests, not empty
 * @param confidence for which the effective sample size is needed
 */
export function valuesAbove(
  values: Float64Array,
  { comparison, limit }: AssertionPlan,
  confidence = INTERVAL_CONFIDENCE,
): SampleAbove {
  const isAtLeast = comparison === "below" || comparison === "at-least";
  const isAbove = Float64Array.from(values, (value) => (value > limit || (isAtLeast && value === limit) ? 1 : 0));
  const aboveCount = isAbove.reduce((sum, one) => sum + one, 0);
  const count = values.length;
  const ratio = aboveCount / count;
  const effective = effectiveCount(count, ratio * (1 - ratio), batchMeansOf(isAbove), confidence);
  return { count, aboveCount, effectiveCount: effective };
}

/** Returns the measured values of a metric, in the order of the requests. @param name its name in assertions */
export function tokenSampleOf(name: string, columns: TokenColumns): Float64Array {
  return columns.metrics[columnOf(name)].measured();
}

/** Explains why a metric has no value; undefined when it has one, or the reason is unknown. */
export function explainNoValue(
  metric: TokenMetricPlan,
  columns: TokenColumns,
  window: Measurement,
): string | undefined {
  if (tokenMetricValue(metric, columns, window) !== undefined || !needsStreams(metric)) return undefined;
  const isRate = "of" in metric && columnOf(metric.of) === "outputTokensPerSecPerUser";
  return explainUnstreamed(columns) ?? (isRate ? explainNoRates(columns) : undefined);
}

/** Returns what each request adds to a rate of tokens or of good requests; undefined without a value. */
export function rateWeights(
  metric: Extract<TokenMetricPlan, { kind: "output-tokens-per-sec" | "goodput" }>,
  columns: TokenColumns,
): Float64Array | undefined {
  if (metric.kind === "output-tokens-per-sec") return columns.metrics.outputTokens.view();
  return goodRows(columns, "text", toNamedLimits(metric.limits));
}

function needsStreams(metric: TokenMetricPlan): boolean {
  if (metric.kind === "output-tokens-per-sec") return false;
  if (metric.kind !== "goodput") return entryOf(columnOf(metric.of)).isStreamed === true;
  return Object.keys(metric.limits).some((name) => name !== "latency");
}

/** Returns the metric in words: `p99 time to first token`. */
export function tokenMetricText(metric: TokenMetricPlan): string {
  if (metric.kind === "output-tokens-per-sec") return "output tokens per second";
  if (metric.kind === "goodput") return `goodput (${describeLimits(metric.limits)})`;
  const name = entryOf(columnOf(metric.of)).label;
  return metric.kind === "token-average" ? `average ${name}` : `p${metric.percentile} ${name}`;
}

/** Formats a value with its unit. */
export function formatTokenMetric(metric: TokenMetricPlan, value: number): string {
  const rounded = Number(value.toPrecision(6));
  if (metric.kind === "output-tokens-per-sec") return `${rounded} tokens/s`;
  if (metric.kind === "goodput") return `${rounded} requests/s`;
  if (isTimeMetric(columnOf(metric.of))) return formatDurationNs(value);
  return metric.of === "outputTokensPerSecPerUser" ? `${rounded} tokens/s` : `${rounded} tokens`;
}

/** Converts limits to GenAI-Perf's names, with times in milliseconds. */
function toNamedLimits(limits: GoodputPlan): GoodputLimits {
  const named = Object.entries(limits).map(([name, limit]) => {
    const metric = limitedBy(name);
    return [entryOf(metric).genaiPerf?.name ?? name, isTimeMetric(metric) ? nsToMs(limit) : limit];
  });
  return Object.fromEntries(named) as GoodputLimits;
}

function limitedBy(name: string): TokenMetric {
  return name === "latency" ? "requestLatencyNs" : columnOf(name);
}

function describeLimits(limits: GoodputPlan): string {
  return Object.entries(limits)
    .map(([name, limit]) => {
      const metric = limitedBy(name);
      const { label } = entryOf(metric);
      return isTimeMetric(metric) ? `${label} at most ${formatDurationNs(limit)}` : `${label} at least ${limit}`;
    })
    .join(", ");
}

/** @param name a validated name from a plan */
function columnOf(name: string): TokenMetric {
  return findAsserted(name) as TokenMetric;
}
