import type { StatisticName } from "../../../measure/numpy-statistics.ts";
import { formatCsvRow } from "../../csv-row.ts";
import { formatTwoDecimals } from "../python-format.ts";
import type { SweepPoint, SweepRow } from "./sweep.ts";

/** GenAI-Perf's summary of a sweep, `analyze_export_genai_perf.csv`. */

type Cell = readonly [header: string, metric: string, statistic: StatisticName];

const METRICS: readonly Cell[] = [
  ["p99 Time To First Token (ms)", "time_to_first_token", "p99"],
  ["p99 Inter Token Latency (ms)", "inter_token_latency", "p99"],
  ["p99 Request Latency (ms)", "request_latency", "p99"],
  ["p99 Output Sequence Length (tokens)", "output_sequence_length", "p99"],
  ["Avg. Output Token Throughput (tokens/sec)", "output_token_throughput", "avg"],
  ["Request Throughput (requests/sec)", "request_throughput", "avg"],
];
const PAGE_METRICS: readonly Cell[] = [
  ["p99 GPU Power Usage (W)", "gpu_power_usage", "p99"],
  ["p99 GPU Energy Consumption (MJ)", "energy_consumption", "p99"],
  ["p99 GPU Utilization (%)", "gpu_utilization", "p99"],
  ["p99 GPU Memory Used (GB)", "gpu_memory_used", "p99"],
  ["Avg. GPU Power Limit (W)", "gpu_power_limit", "avg"],
  ["Avg. GPU Total Memory (GB)", "total_gpu_memory", "avg"],
];

/**
 * Formats the text, with lines that end with CR LF. Rows are sorted by descending request throughput. Missing values are 0.00, like in
 * GenAI-Perf.
 */
export function formatSweepCsv(rows: readonly SweepRow[], loadHeader: "Concurrency" | "Request Rate"): string {
  const ordered = rows.toSorted((a, b) => throughputOf(b) - throughputOf(a));
  const lines = [
    ["Config Name", loadHeader, "ISL", "Num Dataset Entries", ...METRICS.map(([header]) => header)],
    ...ordered.map(formatRow),
    [],
    ["Config Name", "GPU", ...PAGE_METRICS.map(([header]) => header)],
    ...gpusOf(ordered).flatMap((gpu) => ordered.map((row) => formatGpuRow(row, gpu))),
  ];
  return lines.map((line) => formatCsvRow(line)).join("");
}

function throughputOf({ result }: SweepPoint): number {
  return result.statistics.get("request_throughput")?.values.get("avg") ?? 0;
}

function formatRow({ name, load, datasetEntries, result: { statistics } }: SweepRow): string[] {
  const isl = statistics.get("input_sequence_length")?.values.get("p99") ?? 0;
  const values = METRICS.map(([, metric, statistic]) => statistics.get(metric)?.values.get(statistic));
  return [name, String(load), String(Math.trunc(isl)), String(datasetEntries), ...values.map(format)];
}

function formatGpuRow({ name, result }: SweepRow, gpu: string): string[] {
  const values = PAGE_METRICS.map(([, metric, statistic]) =>
    result.telemetry?.get(metric)?.gpus.get(gpu)?.get(statistic),
  );
  return [name, gpu, ...values.map(format)];
}

/** Uses the GPUs of all rows. GenAI-Perf uses those of the first row, which may have no measurement. */
function gpusOf(rows: readonly SweepRow[]): string[] {
  const gpus = rows.flatMap(({ result }) => [...(result.telemetry?.get("gpu_power_usage")?.gpus.keys() ?? [])]);
  return [...new Set(gpus)];
}

function format(value: number | undefined): string {
  return formatTwoDecimals(value ?? 0).replaceAll(",", "");
}
