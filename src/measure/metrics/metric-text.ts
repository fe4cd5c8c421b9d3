import type { MetricPlan, Statistic } from "../../plan/assertions.ts";
import { formatDurationNs, formatPct } from "../../plan/units.ts";
import { DEFAULT_THROUGHPUT_UNIT } from "../../service/service.ts";
import { findEntry, metricOf } from "./catalogue.ts";

/** Metrics and their values in words. */

/** Returns a metric in words: `p99 latency`. */
export function metricText(metric: MetricPlan): string {
  const { label } = metricOf(metric);
  const { statistic, name, limits, text } = metric;
  if (text !== undefined) return `share of ${name} "${text}"`;
  const of = name ?? (limits === undefined ? label : `${label} (${describeLimits(limits)})`);
  return statistic === undefined ? of : `${statisticText(statistic)} ${of}`;
}

/** Returns a metric's key with its statistic, as in a column of a report: `latency.p99`. */
export function metricKey({ key, statistic, name, text }: MetricPlan): string {
  const of = text === undefined ? (name ?? key) : `${name}=${text}`;
  return statistic === undefined ? of : `${of}.${statisticText(statistic)}`;
}

/** Returns a statistic in words: `p99`, `mean`. */
function statisticText(statistic: Statistic): string {
  return typeof statistic === "number" ? `p${statistic}` : statistic;
}

function describeLimits(limits: NonNullable<MetricPlan["limits"]>): string {
  return Object.entries(limits)
    .map(([key, limit]) => {
      const { label = key, quantity } = findEntry(key) ?? {};
      return quantity === "time" ? `${label} at most ${formatDurationNs(limit)}` : `${label} at least ${limit}`;
    })
    .join(", ");
}

const MOST_DECIMALS = 12;

/** Formats a metric's value with its unit and at most six digits. @param throughputUnit of the service */
export function formatMetric(
  metric: MetricPlan,
  value: number,
  throughputUnit: string = DEFAULT_THROUGHPUT_UNIT,
): string {
  const { quantity } = metricOf(metric);
  if (quantity === "time") return formatDurationNs(value);
  if (quantity === "ratio") return formatPct(value, 4);
  const unit = unitOf(metric, throughputUnit);
  const number = Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: MOST_DECIMALS });
  return unit === "" ? number : `${number} ${shortUnit(unit)}`;
}

/** Returns a unit as it follows values: `req/s` for `requests/s`. */
export function shortUnit(unit: string): string {
  return unit.replace(/^requests\/s$/, "req/s");
}

/** Returns the unit of a metric's values, except for times: `%`, `infer/s`, `tokens`; empty if there is none. */
export function unitOf(metric: MetricPlan, throughputUnit: string = DEFAULT_THROUGHPUT_UNIT): string {
  const { quantity, unit } = metricOf(metric);
  if (quantity === "ratio") return "%";
  return metric.key === "throughput" ? throughputUnit : (unit ?? "");
}
