import { type ExponentialHistogram, SCALE } from "../../../measure/exponential-histogram.ts";
import { nsToSec } from "../../../plan/units.ts";
import type { Labels, Metric } from "../metric-list.ts";

/** Metrics in Prometheus' text format 0.0.4. */

/** The media type of the text. */
export const TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Buckets between a duration and its double. Each bound is a bound of the histogram's own buckets, so counts are exact. */
const BOUNDS_PER_DOUBLE = 2;
const LOWEST_BOUND_EXPONENT = -14; // 61 us
const HIGHEST_BOUND_EXPONENT = 9; // 512 s
const BUCKETS_PER_BOUND = 2 ** SCALE / BOUNDS_PER_DOUBLE;

const BOUNDS: readonly { readonly le: string; readonly end: number }[] = Array.from(
  { length: (HIGHEST_BOUND_EXPONENT - LOWEST_BOUND_EXPONENT) * BOUNDS_PER_DOUBLE + 1 },
  (_, i) => {
    const index = LOWEST_BOUND_EXPONENT * BOUNDS_PER_DOUBLE + i;
    return { le: String(2 ** (index / BOUNDS_PER_DOUBLE)), end: index * BUCKETS_PER_BOUND };
  },
);

const UNITS: Readonly<Record<string, string>> = { s: "_seconds" };

/** Formats metrics. Names get their unit, and counters `_total`. */
export function formatPrometheusText(metrics: readonly Metric[]): string {
  return `${metrics.flatMap(formatFamily).join("\n")}\n`;
}

/** Returns Prometheus' name of a metric. */
export function prometheusName({ name, unit, kind }: Metric): string {
  return `${name.replaceAll(".", "_")}${UNITS[unit] ?? ""}${kind === "counter" ? "_total" : ""}`;
}

function formatFamily(metric: Metric): string[] {
  const name = prometheusName(metric);
  const head = [`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.kind}`];
  if (metric.kind !== "histogram")
    return [...head, ...metric.points.map(({ labels, value }) => `${name}${formatLabels(labels)} ${value}`)];
  return [...head, ...metric.points.flatMap(({ labels, histogram }) => formatHistogram(name, labels, histogram))];
}

function formatHistogram(
  name: string,
  labels: Labels,
  { offset, counts, count, sumNs }: ExponentialHistogram,
): string[] {
  let passed = 0;
  let at = 0;
  const lines = BOUNDS.map(({ le, end }) => {
    for (; offset + at < end; at++) passed += counts[at] ?? 0;
    return `${name}_bucket${formatLabels({ ...labels, le })} ${passed}`;
  });
  return [
    ...lines,
    `${name}_bucket${formatLabels({ ...labels, le: "+Inf" })} ${count}`,
    `${name}_sum${formatLabels(labels)} ${nsToSec(sumNs)}`,
    `${name}_count${formatLabels(labels)} ${count}`,
  ];
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
