import { PERCENTILES, summarize } from "../../../measure/numpy-statistics.ts";
import { wrapWords } from "../../../plan/terminal-text.ts";
import { VERSION } from "../../../runtime/this-program.ts";
import { estimateQuantile } from "../../../telemetry/histogram-estimate.ts";
import type { ScrapedEndpoint, ScrapedFamily, ScrapedSeries, ScrapeResult } from "../../../telemetry/scrape-result.ts";
import type { TelemetryMetric } from "../../../telemetry/series.ts";
import { formatCsvRow } from "../../markup.ts";
import { formatTwoDecimals } from "../python-format.ts";
import { formatRichTable } from "../rich-table.ts";

/** Statistics of the servers' metrics during a run. Names are AIPerf's if it has the same value. */

/** Values by statistic: `avg`, `min`, `p99`, `total`, `rate`, `p99_estimate`, … Statistics without values are omitted. */
type ServerStatistics = ReadonlyMap<string, number>;

interface ServerMetric {
  readonly endpoint: ScrapedEndpoint;
  readonly family: ScrapedFamily;
  readonly labels: ReadonlyMap<string, string>;
  readonly statistics: ServerStatistics;
  /** Whether it had a value other than 0 and, for counters, changed. */
  readonly isActive: boolean;
}

/** Percentiles to estimate from a histogram. */
const ESTIMATED = [50, 90, 95, 99] as const;

/** Returns all series by family name, then in the order of the servers. */
function toServerMetrics({ endpoints }: ScrapeResult): ServerMetric[] {
  return endpoints
    .flatMap((endpoint) =>
      endpoint.families.flatMap((family) =>
        family.series.map((series) => ({
          endpoint,
          family,
          labels: series.labels,
          statistics: statisticsOf(series, endpoint.durationSec),
          isActive: isActive(series),
        })),
      ),
    )
    .toSorted((a, b) => (a.family.name < b.family.name ? -1 : a.family.name > b.family.name ? 1 : 0));
}

/** Returns gauges, and the rates of counters, over time. @param result scrapes of a run */
export function toServerSeries({ endpoints }: ScrapeResult): TelemetryMetric[] {
  const metrics = new Map<string, { name: string; unit: string; series: TelemetryMetric["series"][number][] }>();
  const hasMany = hasManyServers({ endpoints });
  for (const { url, families } of endpoints) {
    for (const { name, kind, unit, series } of families) {
      if (kind === "histogram") continue;
      const isRate = kind === "counter";
      const shown = isRate ? { name: `${name}_rate`, unit: unit === "" ? "1/s" : `${unit}/s` } : { name, unit };
      const metric = metrics.get(shown.name) ?? { ...shown, series: [] };
      metrics.set(shown.name, metric);
      for (const one of series) {
        if (one.kind === "histogram") continue;
        const place = hasMany ? [new URL(url).host] : [];
        const label = [...place, ...(one.labels.size > 0 ? [formatLabels(one.labels)] : [])].join(" ");
        const { timesSec, values } = one.readings;
        metric.series.push({
          label,
          ...(isRate ? toRates(timesSec, values) : { timesSec: [...timesSec], values: [...values] }),
        });
      }
    }
  }
  return [...metrics.values()];
}

const NOISE = /^(?:DCGM_|python_|process_|go_|promhttp_)|_created(?:_rate)?$/;

/** Reports whether a metric describes the server's process instead of its requests, or describes GPUs, which have their own tables. */
export function isNoise(name: string): boolean {
  return NOISE.test(name);
}

/** Reports whether several endpoints returned metrics. */
function hasManyServers({ endpoints }: ScrapeResult): boolean {
  return endpoints.filter(({ families }) => families.length > 0).length > 1;
}

/** Formats labels: `model="m", version="1"`. */
function formatLabels(labels: ReadonlyMap<string, string>): string {
  return [...labels].map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(", ");
}

function toRates(timesSec: Float64Array, values: Float64Array): { timesSec: number[]; values: number[] } {
  const rates: { timesSec: number[]; values: number[] } = { timesSec: [], values: [] };
  for (let i = 1; i < values.length; i++) {
    const before = values[i - 1] as number;
    const now = values[i] as number;
    const seconds = (timesSec[i] as number) - (timesSec[i - 1] as number);
    if (seconds <= 0) continue;
    rates.timesSec.push(timesSec[i] as number);
    rates.values.push((now >= before ? now - before : now) / seconds);
  }
  return rates;
}

function statisticsOf(series: ScrapedSeries, durationSec: number): ServerStatistics {
  const perSec = (value: number): number => (durationSec > 0 ? value / durationSec : Number.NaN);
  return measured(
    series.kind === "gauge"
      ? gaugeStatistics(series)
      : series.kind === "counter"
        ? [
            ["total", series.increase],
            ["rate", perSec(series.increase)],
          ]
        : [
            ["count", series.count],
            ["count_rate", perSec(series.count)],
            ["sum", series.sum],
            ["sum_rate", perSec(series.sum)],
            ["avg", series.sum / series.count],
            ...ESTIMATED.map((p): [string, number] => [`p${p}_estimate`, estimateQuantile(series.buckets, p / 100)]),
          ],
  );
}

/** Returns statistics of all readings; percentiles of the kept ones only. */
function gaugeStatistics({ readings }: Extract<ScrapedSeries, { kind: "gauge" }>): [string, number][] {
  const summary = summarize(readings.values);
  if (summary === undefined) return [];
  return [
    ["avg", readings.mean],
    ["min", readings.min],
    ["max", readings.max],
    ["std", summary.std],
    ...PERCENTILES.map((p): [string, number] => [`p${p}`, summary[`p${p}`]]),
  ];
}

function measured(statistics: readonly [string, number][]): ServerStatistics {
  return new Map(statistics.filter(([, value]) => Number.isFinite(value)));
}

function isActive(series: ScrapedSeries): boolean {
  if (series.kind === "gauge") return series.readings.min !== 0 || series.readings.max !== 0;
  return series.kind === "counter" ? series.increase > 0 : series.count > 0;
}

/**
 * `server_metrics_export_genai_perf_rampart.json` and `server_metrics_export.csv`, in AIPerf's layout, with a separate column for labels.
 */

const HEADS: Readonly<Record<ScrapedFamily["kind"], readonly string[]>> = {
  gauge: ["avg", "min", "max", "std", ...PERCENTILES.map((p) => `p${p}`)],
  counter: ["total", "rate"],
  histogram: ["count", "count_rate", "sum", "sum_rate", "avg", ...ESTIMATED.map((p) => `p${p}_estimate`)],
};
const KINDS = ["gauge", "counter", "histogram"] as const;

/** Formats the JSON file. */
export function formatServerMetricsJson(result: ScrapeResult): string {
  const { endpoints } = result;
  // Keyed by names that servers choose, which may be `constructor`.
  const metrics = new Map<string, { type: string; description: string; unit?: string; series: object[] }>();
  for (const { endpoint, family, labels, statistics } of toServerMetrics(result)) {
    const metric = metrics.get(family.name) ?? {
      type: family.kind,
      description: family.help,
      ...(family.unit === "" ? {} : { unit: family.unit }),
      series: [],
    };
    metrics.set(family.name, metric);
    metric.series.push({
      endpoint_url: endpoint.url,
      ...(labels.size === 0 ? {} : { labels: Object.fromEntries(labels) }),
      stats: Object.fromEntries(statistics),
    });
  }
  const document = {
    schema_version: "1.1",
    rampart_version: VERSION,
    summary: {
      endpoints_configured: endpoints.map(({ url }) => url),
      endpoints_successful: endpoints.filter(({ families }) => families.length > 0).map(({ url }) => url),
      endpoint_info: Object.fromEntries(endpoints.map((endpoint) => [endpoint.url, describeEndpoint(endpoint)])),
    },
    metrics_phase: "profiling",
    metrics: Object.fromEntries(metrics),
  };
  // Time stamps have 19 digits, but a number keeps only 16.
  return `${JSON.stringify(document, null, 2).replace(/"((?:first|last)_fetch_ns)": "(\d+)"/g, '"$1": $2')}\n`;
}

function describeEndpoint(endpoint: ScrapeResult["endpoints"][number]): object {
  const { scrapeCount, failedCount, failure, firstEpochNs, lastEpochNs, fetchMeanMs, durationSec, leftOutCount } =
    endpoint;
  return {
    total_fetches: scrapeCount,
    ...(failedCount > 0 ? { failed_fetches: failedCount, first_failure: failure } : {}),
    first_fetch_ns: String(firstEpochNs),
    last_fetch_ns: String(lastEpochNs),
    ...(Number.isNaN(fetchMeanMs) ? {} : { avg_fetch_latency_ms: fetchMeanMs }),
    duration_seconds: durationSec,
    ...(leftOutCount > 0 ? { series_left_out: leftOutCount } : {}),
  };
}

/** Formats one block for each kind of metric, separated by empty lines. */
export function formatServerMetricsCsv(result: ScrapeResult): string {
  const metrics = toServerMetrics(result);
  const blocks = KINDS.flatMap((kind) => {
    const rows = metrics.filter(({ family }) => family.kind === kind).map((metric) => toRow(metric, HEADS[kind]));
    const head = ["Endpoint", "Type", "Metric", "Labels", "Unit", ...HEADS[kind], "Description"];
    return rows.length === 0 ? [] : [[head, ...rows].map((row) => formatCsvRow(row, "\n")).join("")];
  });
  return blocks.join("\n");
}

function toRow({ endpoint, family, labels, statistics }: ServerMetric, names: readonly string[]): string[] {
  const cells = names.map((name) => statistics.get(name)?.toFixed(4) ?? "");
  return [
    new URL(endpoint.url).host,
    family.kind,
    family.name,
    formatLabels(labels),
    family.unit,
    ...cells,
    family.help,
  ];
}

const MOST_ROWS = 60;
const NAME_WIDTH = 60;

/** Formats tables of the servers' metrics. Omits inactive metrics; empty if there are no others. */
export function formatServerMetricsConsole(result: ScrapeResult): string {
  const shown = toServerMetrics(result).filter(({ family, isActive }) => isActive && !isNoise(family.name));
  if (shown.length === 0) return "";
  const hasMany = hasManyServers(result);
  const table = (
    title: string,
    kind: string,
    columns: readonly (readonly [head: string, statistic: string])[],
  ): string => {
    const metrics = shown.filter(({ family }) => family.kind === kind);
    if (metrics.length === 0) return "";
    const rows = metrics
      .slice(0, MOST_ROWS)
      .map((metric) => [
        nameOf(metric, hasMany),
        ...columns.map(([, statistic]) => formatValue(metric.statistics.get(statistic))),
      ]);
    const rest = metrics.length - rows.length;
    const more = rest > 0 ? `${rest} more are in server_metrics_export.csv\n` : "";
    return formatRichTable(`Server metrics: ${title}`, ["Metric", ...columns.map(([head]) => head)], rows) + more;
  };
  const named = (...names: readonly string[]): [string, string][] => names.map((name) => [name, name]);
  return (
    table("gauges", "gauge", named("min", "avg", "max")) +
    table("counters", "counter", [
      ["increase", "total"],
      ["per second", "rate"],
    ]) +
    table("histograms, percentiles estimated from buckets", "histogram", [
      ...named("count", "avg"),
      ["p50 (est.)", "p50_estimate"],
      ["p90 (est.)", "p90_estimate"],
      ["p99 (est.)", "p99_estimate"],
    ])
  );
}

function nameOf({ family, labels, endpoint }: ServerMetric, hasMany: boolean): string {
  const unit = family.unit === "" ? "" : ` (${family.unit})`;
  const place = hasMany ? ` of ${new URL(endpoint.url).host}` : "";
  const text = `${family.name}${unit}${labels.size === 0 ? "" : ` ${formatLabels(labels)}`}${place}`;
  return wrapWords(text, NAME_WIDTH).join("\n");
}

/** Times in seconds are small numbers. */
function formatValue(value: number | undefined): string {
  if (value === undefined) return "N/A";
  return value !== 0 && Math.abs(value) < 1 ? String(Number(value.toPrecision(3))) : formatTwoDecimals(value);
}
