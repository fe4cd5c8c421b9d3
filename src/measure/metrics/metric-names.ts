import type { Direction, MetricPlan, Statistic } from "../../plan/assertions.ts";
import { nearestName } from "../../plan/nearest-name.ts";
import { findEntry, hasStatistic, METRIC_KEYS, metricOf } from "./catalogue.ts";
import type { Metric, Quantity } from "./metric.ts";
import { metricText } from "./metric-text.ts";

/**
 * Metrics by name, for all places where a user types one as text: `p99(latency)` as in assertions, `latency.p99` as in
 * comparisons, and `p99` alone for the latency.
 */

/** A metric by its name in comparisons. */
export interface NamedMetric {
  /** `latency.p99` */
  readonly name: string;
  /** `p99 latency` */
  readonly label: string;
  readonly quantity: Quantity;
  /** Default: the unit of the quantity. */
  readonly unit?: string | undefined;
  /** Absent: neither direction is better. */
  readonly better?: Direction | undefined;
}

/** Prefix of numbers that a target extracts from its responses. */
export const EXTRACTED = "extracted.";
/** Prefix of metrics that a scenario derives from others. */
const DERIVED = "derived.";

/** Metrics by their short names in options. */
const OPTION_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  METRIC_KEYS.flatMap((key) => {
    const { option } = findEntry(key) ?? {};
    return option === undefined ? [] : [[option, key]];
  }),
);

/**
 * Names of metrics in k6, GenAI-Perf, AIPerf and others, except names that differ only in spelling, each with the metric or the
 * way to write it.
 */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...OPTION_NAMES,
  tpot: "interTokenLatency",
  timePerOutputToken: "interTokenLatency",
  e2e: "latency",
  e2eLatency: "latency",
  requestLatency: "latency",
  responseTime: "latency",
  httpReqDuration: "latency",
  iterationDuration: "latency",
  effectiveLatency: "scheduledLatency",
  httpReqWaiting: "firstResponse",
  httpReqs: "throughput().atLeast(100)",
  httpReqFailed: 'errorRate().below("1 %")',
  requestErrorRate: 'errorRate().below("1 %")',
  errorRate: 'errorRate().below("1 %")',
  throughput: "throughput().atLeast(100)",
  thruput: "throughput().atLeast(100)",
  rps: "throughput().atLeast(100)",
  requestThroughput: "throughput().atLeast(100)",
  errors: 'errorRate().below("1 %")',
  failures: 'errorRate().below("1 %")',
  failureRate: 'errorRate().below("1 %")',
  checks: 'errorRate().below("1 %")',
  successRate: 'errorRate().below("1 %")',
  requestCount: "throughput().atLeast(100)",
  requestsPerSecond: "throughput().atLeast(100)",
  outputTokensPerSecond: "outputTokensPerSec().atLeast(100)",
  outputTokenThroughput: "outputTokensPerSec().atLeast(100)",
  outputTokenThroughputPerUser: "outputTokensPerSecPerUser",
  totalTokenThroughput: 'metric("totalTokensPerSec").atLeast(100)',
  outputSequenceLength: "outputTokens",
  inputSequenceLength: "inputTokens",
  osl: "outputTokens",
  isl: "inputTokens",
};

/** Returns the metric for a name from another tool or with another spelling, or how to write it; undefined for any other unknown name. */
export function meantMetric(given: string): string | undefined {
  const name = given.replace(/[-_\s]+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());
  const known = findEntry(name);
  if (known !== undefined && known.isOfReports !== true && known.statistics !== undefined) return name;
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
}

/** Returns the metric key for a name from another tool or with another spelling; undefined for any other unknown name. */
export function meantKey(given: string): string | undefined {
  return meantMetric(given)
    ?.match(/\w+/g)
    ?.find((word) => findEntry(word) !== undefined);
}

const STATISTIC = "mean|min|max|p\\d{1,2}(?:\\.\\d+)?";
/**
 * Regular expression for metrics as text: a statistic of a metric, or a key, with a statistic if the metric has several. The
 * text in brackets is not checked.
 */
export const METRIC_PATTERN = `(?:(?:${STATISTIC})(?:\\s*\\([^)]*\\))?|share\\s*\\([^)]*\\)|(?:${METRIC_KEYS.join("|")})(?:\\.[^\\s()<>=]+)?(?:\\s*\\([^)]*\\))?)`;
const ALONE = new RegExp(`^(?:${STATISTIC})$`);
const CALL = new RegExp(`^(${STATISTIC})\\(\\s*(.*?)\\s*\\)$`);
const DOTTED = new RegExp(`^(.*)\\.(${STATISTIC})$`);

/** Parses a statistic: `p99`, `mean`, `max`; undefined for any other text. Percentiles are from 1 to below 100. */
export function parseStatistic(text: string): Statistic | undefined {
  if (!ALONE.test(text)) return undefined;
  if (text === "min" || text === "max") return text;
  if (!text.startsWith("p")) return "mean";
  const percentile = Number(text.slice(1));
  return percentile < 1 ? undefined : percentile;
}

/** Splits `p99(latency)`, `latency.p99`, `p99` or `throughput`. */
function splitName(given: string): readonly [of: string, statistic: string | undefined] {
  if (ALONE.test(given)) return ["latency", given];
  if (given.startsWith(DERIVED)) return [given, undefined];
  const [, called, inside] = CALL.exec(given) ?? [];
  if (inside !== undefined) return [inside === "" ? "latency" : inside, called];
  const [, of = given, statistic] = DOTTED.exec(given) ?? [];
  return [of, statistic];
}

/** Share of the responses with an extracted text: `share(extracted.finish=length)`. */
const SHARE = /^share\(\s*extracted\.([^=]+?)\s*=\s*(.*?)\s*\)$/s;

function toPlan(of: string): MetricPlan {
  const [, shared, text] = SHARE.exec(of) ?? [];
  if (shared !== undefined) return { key: "extractedShare", name: shared, text };
  if (of.startsWith(DERIVED)) return { key: "derived", name: of.slice(DERIVED.length) };
  if (of.startsWith(EXTRACTED)) return { key: "extracted", name: of.slice(EXTRACTED.length) };
  return { key: of };
}

/** Names of metrics in options: `ttft`. */
export const METRIC_OPTIONS: readonly string[] = Object.keys(OPTION_NAMES);

/** Converts a metric name of an option: `ttft.p99` to `timeToFirstToken.p99`. Returns other texts unchanged. */
export function fromOption(given: string): string {
  const [of, statistic] = splitName(given.trim());
  const key = Object.hasOwn(OPTION_NAMES, of) ? OPTION_NAMES[of] : undefined;
  return key === undefined ? given : statistic === undefined ? key : `${key}.${statistic}`;
}

/** Parses the name of a metric; undefined for an unknown metric, or a statistic that it does not have. */
export function parseMetric(given: string): MetricPlan | undefined {
  const [of, text] = splitName(given.trim());
  const plan = toPlan(of);
  const entry = findEntry(plan.key);
  if (entry === undefined || plan.name === "" || (entry.definedIn !== undefined && plan.name === undefined))
    return undefined;
  const only = entry.statistics?.length === 1 ? "mean" : undefined;
  const statistic = text === undefined ? only : parseStatistic(text);
  if ((text !== undefined && statistic === undefined) || !hasStatistic(entry, statistic)) return undefined;
  return statistic === undefined ? plan : { ...plan, statistic };
}

/** Returns a metric's name in comparisons: `latency.p99`. A metric with a single statistic is named without it. */
export function nameMetric(metric: MetricPlan): string {
  const { statistic, name, text } = metric;
  if (text !== undefined) return `share(${EXTRACTED}${name}=${text})`;
  const of = name === undefined ? metric.key : `${metric.key}.${name}`;
  if (statistic === undefined || metricOf(metric).statistics?.length === 1) return of;
  return `${of}.${typeof statistic === "number" ? `p${statistic}` : statistic}`;
}

/** Returns the entry of a metric by its name; undefined for unknown names. */
export function entryNamed(given: string): Metric | undefined {
  const plan = parseMetric(given);
  return plan && metricOf(plan);
}

/** Returns a metric by its name; undefined for unknown names. */
export function findMetric(given: string): NamedMetric | undefined {
  const plan = parseMetric(given);
  if (plan === undefined) return undefined;
  const { quantity, unit, better, label, statistics } = metricOf(plan);
  return { name: nameMetric(plan), label: statistics?.length === 1 ? label : metricText(plan), quantity, unit, better };
}

const ELSEWHERE = new RegExp(`^(${STATISTIC})[_. -]?([a-z][\\w.]*)$|^(\\w+?)[_ -](${STATISTIC})$`, "i");

/** Returns a metric as it is written, for one with its statistic elsewhere: `ttft.p99` for `p99_ttft` and `ttft p99`. */
export function orderName(name: string): string | undefined {
  const [, before, metric, other, after] = ELSEWHERE.exec(name) ?? [];
  const meant = `${metric ?? other}.${before ?? after}`;
  return parseMetric(fromOption(meant)) === undefined ? undefined : meant;
}

/** Returns the known name that is most similar to an unknown one, with a statistic if only that is missing. */
export function suggestMetric(name: string): string | undefined {
  const given = fromOption(name.replace(/\b(?:avg|average)\b/, "mean"));
  if (given !== name && parseMetric(given) !== undefined) return given;
  const ordered = orderName(given);
  if (ordered !== undefined) return fromOption(ordered);
  const [of, statistic] = splitName(given);
  const hasStatistics = (name: string): boolean => (findEntry(toPlan(name).key)?.statistics?.length ?? 0) > 1;
  if (statistic === undefined && hasStatistics(of)) return `${given}.p99`;
  const [family = "", ...rest] = given.split(".");
  const names = [...METRIC_KEYS, "mean", "p50", "p90", "p95", "p99"];
  const near = nearestName(family, names);
  const meant = near === undefined && rest.length === 0 ? meantKey(family) : undefined;
  if (meant !== undefined) return hasStatistics(meant) ? `${meant}.p99` : meant;
  if (near === undefined) return undefined;
  if (!hasStatistics(near)) return near === given ? undefined : near;
  const text = rest.join(".");
  return `${near}.${ALONE.test(text) ? text : "p99"}`;
}

/** Returns a sort key: the order of the catalogue, and for each metric its mean, minimum, percentiles and maximum. */
export function orderOfMetric(name: string): number {
  const metric = parseMetric(name);
  const family = (METRIC_KEYS as readonly string[]).indexOf(metric?.key ?? "");
  const ranks = { mean: 0, min: 0.5, max: 100 };
  const { statistic = "mean" } = metric ?? {};
  const rank = typeof statistic === "number" ? statistic : ranks[statistic];
  return (family < 0 ? METRIC_KEYS.length : family) * 1000 + rank;
}
