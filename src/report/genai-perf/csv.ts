import { formatCsvRow } from "../markup.ts";
import { formatStatistic, shownRequestMetrics, shownSystemMetrics } from "./console.ts";
import { metricLabel, telemetryLabel } from "./layout.ts";
import { formatTwoDecimals } from "./python-format.ts";
import type { GenAiPerfResult, TelemetryStatistics } from "./result.ts";
import { gpuMetricOf } from "./telemetry/telemetry.ts";

const STATISTICS = ["avg", "min", "max", "p99", "p95", "p90", "p75", "p50", "p25", "p10", "p5", "p1"] as const;

/** Formats GenAI-Perf's CSV, `profile_export_genai_perf.csv`. Lines end with CR LF. */
export function formatGenAiPerfCsv(result: GenAiPerfResult): string {
  const { statistics, telemetry } = result;
  const rows = [
    ["Metric", ...STATISTICS],
    ...shownRequestMetrics(result).map((metric) => [
      metricLabel(metric),
      ...STATISTICS.map((statistic) => formatStatistic(statistics, metric.name, statistic)),
    ]),
    [],
    ["Metric", "Value"],
    ...shownSystemMetrics(result).map((metric) => [
      metricLabel(metric),
      formatStatistic(statistics, metric.name, "avg"),
    ]),
    ...(telemetry === undefined ? [] : telemetryRows(telemetry)),
  ];
  return rows.map((row) => formatCsvRow(row)).join("");
}

function telemetryRows(telemetry: TelemetryStatistics): string[][] {
  const metrics = [...telemetry].map(([name, { unit, gpus }]) => ({ name, label: telemetryLabel(name, unit), gpus }));
  if (metrics.every(({ gpus }) => gpus.size === 0)) return [];
  const changing = metrics.filter(({ name }) => !gpuMetricOf(name)?.isConstant);
  const constant = metrics.filter(({ name }) => gpuMetricOf(name)?.isConstant);
  return [
    [],
    ["Metric", "GPU", ...STATISTICS],
    ...changing.flatMap(({ label, gpus }) =>
      [...gpus].map(([gpu, values]) => [
        label,
        gpu,
        ...STATISTICS.map((statistic) => formatTwoDecimals(values.get(statistic) ?? 0)),
      ]),
    ),
    [],
    ["Metric", "GPU", "Value"],
    // Without thousands separators, like GenAI-Perf.
    ...constant.flatMap(({ label, gpus }) =>
      [...gpus].map(([gpu, values]) => [label, gpu, formatTwoDecimals(values.get("avg") ?? 0).replaceAll(",", "")]),
    ),
  ];
}
