import type { MetricPlan } from "../../plan/assertions.ts";
import { type GoodputPlan, TOKEN_TIMES, type TokenMetricName } from "../../plan/tokens.ts";
import { formatDurationNs } from "../../plan/units.ts";
import { meanOf, percentileOf } from "../statistics.ts";
import type { WindowResult } from "../window.ts";
import type { GoodputLimits } from "./goodput.ts";
import type { TokenColumns, TokenMetric } from "./token-metrics.ts";
import { goodPerSec, outputTokensPerSec } from "./token-rates.ts";
import { STREAMED_METRICS } from "./token-samples.ts";
import { explainUnstreamed } from "./token-warnings.ts";

/** Metrics of tokens, as assertions look at them. */

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

/** Whether a metric needs the tokens of answers. */
export function isTokenMetric(metric: MetricPlan): metric is TokenMetricPlan {
  return TOKEN_KINDS.has(metric.kind);
}

/** Its value: nanoseconds, a count or a rate over the window; undefined when no request has one. */
export function tokenMetricValue(
  metric: TokenMetricPlan,
  columns: TokenColumns,
  window: WindowResult,
): number | undefined {
  if (metric.kind === "output-tokens-per-sec") return outputTokensPerSec(columns, window);
  if (metric.kind === "goodput") {
    const isKnown = columns.unstreamedCount < columns.count || !needsStreams(metric);
    return isKnown ? goodPerSec(columns, window, toNamedLimits(metric.limits)) : undefined;
  }
  const values = columns.metrics[columnOf(metric.of)].measured();
  if (values.length === 0) return undefined;
  return metric.kind === "token-average" ? meanOf(values) : percentileOf(values.toSorted(), metric.percentile);
}

/** Why a metric has no value; undefined where it has one, or the reason is not known. */
export function explainNoValue(
  metric: TokenMetricPlan,
  columns: TokenColumns,
  window: WindowResult,
): string | undefined {
  return tokenMetricValue(metric, columns, window) === undefined && needsStreams(metric)
    ? explainUnstreamed(columns)
    : undefined;
}

function needsStreams(metric: TokenMetricPlan): boolean {
  if (metric.kind === "output-tokens-per-sec") return false;
  if (metric.kind !== "goodput") return STREAMED_METRICS.has(columnOf(metric.of));
  return Object.keys(metric.limits).some((name) => name !== "latency");
}

/** The metric in words: `p99 time to first token`. */
export function tokenMetricText(metric: TokenMetricPlan): string {
  if (metric.kind === "output-tokens-per-sec") return "output tokens per second";
  if (metric.kind === "goodput") return `goodput (${describeLimits(metric.limits)})`;
  const name = wordsOf(metric.of);
  return metric.kind === "token-average" ? `average ${name}` : `p${metric.percentile} ${name}`;
}

/** A value with its unit. */
export function formatTokenMetric(metric: TokenMetricPlan, value: number): string {
  const rounded = Number(value.toPrecision(6));
  if (metric.kind === "output-tokens-per-sec") return `${rounded} tokens/s`;
  if (metric.kind === "goodput") return `${rounded} requests/s`;
  if (isTime(metric.of)) return formatDurationNs(value);
  return metric.of === "outputTokensPerSecPerUser" ? `${rounded} tokens/s` : `${rounded} tokens`;
}

const GOODPUT_NAMES: Readonly<Record<keyof GoodputPlan, string>> = {
  timeToFirstToken: "time_to_first_token",
  timeToSecondToken: "time_to_second_token",
  interTokenLatency: "inter_token_latency",
  latency: "request_latency",
  outputTokensPerSecPerUser: "output_token_throughput_per_user",
};

/** By GenAI-Perf's names, times in milliseconds. */
function toNamedLimits(limits: GoodputPlan): GoodputLimits {
  const named = Object.entries(limits).map(([name, limit]) => [
    GOODPUT_NAMES[name as keyof GoodputPlan],
    name === "outputTokensPerSecPerUser" ? limit : limit / 1e6,
  ]);
  return Object.fromEntries(named) as GoodputLimits;
}

function describeLimits(limits: GoodputPlan): string {
  return Object.entries(limits)
    .map(([name, limit]) =>
      name === "outputTokensPerSecPerUser"
        ? `at least ${limit} tokens/s per user`
        : `${wordsOf(name)} at most ${formatDurationNs(limit)}`,
    )
    .join(", ");
}

function columnOf(name: TokenMetricName): TokenMetric {
  return (isTime(name) ? `${name}Ns` : name) as TokenMetric;
}

function isTime(name: TokenMetricName): boolean {
  return (TOKEN_TIMES as readonly string[]).includes(name);
}

/** `timeToFirstToken` as `time to first token`. */
function wordsOf(name: string): string {
  const words: Readonly<Record<string, string>> = {
    outputTokensPerSecPerUser: "output tokens per second per user",
    interTokenLatency: "inter-token latency",
    normalizedTimePerOutputToken: "normalized time per output token",
  };
  return words[name] ?? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
