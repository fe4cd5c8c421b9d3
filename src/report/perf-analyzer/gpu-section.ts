import { type GaugeReadings, type ReadingSeries, seriesOf } from "../../measure/gauge-readings.ts";
import type { Gauge } from "../../measure/metrics/server-gauges.ts";
import { formatStreamNumber } from "./number-format.ts";

/** perf_analyzer's GPU metrics, in its text and its CSV. */

const MOST_GPUS = 16;

interface Column {
  /** Heading of the section's part and of the CSV's column. */
  readonly name: string;
  readonly metric: Gauge;
  /** Returns the summary of all samples. */
  pick(series: ReadingSeries): string;
  format(value: string, series: ReadingSeries): string;
}

const COLUMNS: readonly Column[] = [
  {
    name: "Avg GPU Utilization",
    metric: "gpuUtilizationRatio",
    pick: ({ mean }) => formatStreamNumber(mean),
    format: (_, { mean }) => `${formatStreamNumber(mean * 100)}%`,
  },
  {
    name: "Avg GPU Power Usage",
    metric: "gpuPowerWatts",
    pick: ({ mean }) => formatStreamNumber(mean),
    format: (value) => `${value} watts`,
  },
  {
    name: "Max GPU Memory Usage",
    metric: "gpuMemoryUsedBytes",
    pick: ({ max }) => String(Math.trunc(max)),
    format: (value) => `${value} bytes`,
  },
  {
    name: "Total GPU Memory",
    metric: "gpuMemoryTotalBytes",
    pick: ({ first }) => String(Math.trunc(first)),
    format: (value) => `${value} bytes`,
  },
];

/** Headings of the CSV columns. */
export const GPU_COLUMNS: readonly string[] = COLUMNS.map(({ name }) => name);

/** Formats the section, per GPU like perf_analyzer. Each line ends with a line break. */
export function formatGpuSection(tally: GaugeReadings): string {
  if (COLUMNS.some(({ metric }) => seriesOf(tally, metric).length > MOST_GPUS))
    return "Too many GPUs on system to print out individual Prometheus metrics, use the CSV output feature to see metrics.\n";
  let text = "";
  for (const { name, metric, pick, format } of COLUMNS) {
    text += `    ${name}:\n`;
    for (const [uuid, series] of seriesOf(tally, metric)) text += `      ${uuid} : ${format(pick(series), series)}\n`;
  }
  return text;
}

/** Returns the cells of a CSV row: `UUID:value;` for each GPU. */
export function gpuCells(tally: GaugeReadings): string[] {
  return COLUMNS.map(({ metric, pick }) =>
    seriesOf(tally, metric)
      .map(([uuid, series]) => `${uuid}:${pick(series)};`)
      .join(""),
  );
}
