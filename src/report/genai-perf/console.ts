import type { StatisticName } from "../../measure/numpy-statistics.ts";
import { wrapWords } from "../../plan/terminal-text.ts";
import {
  metricLabel,
  REQUEST_METRICS,
  type RequestMetric,
  reportTitle,
  SYSTEM_METRICS,
  type SystemMetric,
  TABLE_STATISTICS,
} from "./layout.ts";
import { formatTwoDecimals } from "./python-format.ts";
import type { GenAiPerfResult, Statistics } from "./result.ts";
import { formatRichTable } from "./rich-table.ts";

/** Longer names are wrapped. */
const NAME_WIDTH = 36;

/** Formats GenAI-Perf's table. */
export function formatGenAiPerfConsole(result: GenAiPerfResult): string {
  const { statistics } = result;
  const rows = [
    ...shownRequestMetrics(result).map((metric) => [
      formatName(metricLabel(metric)),
      ...TABLE_STATISTICS.map((statistic) => formatStatistic(statistics, metric.name, statistic)),
    ]),
    ...shownSystemMetrics(result).map((metric) => [
      formatName(metricLabel(metric)),
      formatStatistic(statistics, metric.name, "avg"),
      ...TABLE_STATISTICS.slice(1).map(() => "N/A"),
    ]),
  ];
  return formatRichTable(reportTitle(result.endpointType), ["Statistic", ...TABLE_STATISTICS], rows);
}

/** Returns the request metrics for table and CSV. Metrics of streams are included only for streamed responses. */
export function shownRequestMetrics({ family, isStreaming }: GenAiPerfResult): readonly RequestMetric[] {
  return REQUEST_METRICS[family].filter((metric) => isStreaming || !metric.isStreaming);
}

/** Returns the system metrics for table and CSV. */
export function shownSystemMetrics({ family, hasGoodput }: GenAiPerfResult): readonly SystemMetric[] {
  return SYSTEM_METRICS[family].filter(({ name }) => hasGoodput || name !== "request_goodput");
}

/** Formats a statistic with two decimals; `N/A` if missing. */
export function formatStatistic(statistics: Statistics, metric: string, statistic: StatisticName): string {
  const value = statistics.get(metric)?.values.get(statistic);
  return value === undefined ? "N/A" : formatTwoDecimals(value);
}

function formatName(label: string): string {
  return wrapWords(label, NAME_WIDTH).join("\n");
}
