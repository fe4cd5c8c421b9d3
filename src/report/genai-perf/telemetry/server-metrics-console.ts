import type { ScrapeResult } from "../../../telemetry/scrape-result.ts";
import { formatTwoDecimals } from "../python-format.ts";
import { formatRichTable, wrapWords } from "../rich-table.ts";
import { formatLabels, hasManyServers, isNoise, type ServerMetric, toServerMetrics } from "./server-metrics.ts";

const MOST_ROWS = 60;
const NAME_WIDTH = 60;

/** Formats tables of the servers' metrics. Leaves out inactive metrics; empty if nothing is left. */
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

/** Seconds are small numbers. */
function formatValue(value: number | undefined): string {
  if (value === undefined) return "N/A";
  return value !== 0 && Math.abs(value) < 1 ? String(Number(value.toPrecision(3))) : formatTwoDecimals(value);
}
