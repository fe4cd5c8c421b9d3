import { PERCENTILES } from "../../../measure/numpy-statistics.ts";
import { VERSION } from "../../../runtime/version.ts";
import type { ScrapedFamily, ScrapeResult } from "../../../telemetry/scrape-result.ts";
import { formatCsvRow } from "../../markup.ts";
import { ESTIMATED, formatLabels, type ServerMetric, toServerMetrics } from "./server-metrics.ts";

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
  // By names that servers choose: one may be `constructor`.
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
  // Time stamps have 19 digits, of which a number keeps 16.
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
