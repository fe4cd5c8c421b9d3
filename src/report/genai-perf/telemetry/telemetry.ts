import { roundHalfEven, type StatisticName, summarize } from "../../../measure/numpy-statistics.ts";
import type { ScrapeResult } from "../../../telemetry/scrape-result.ts";
import type { TelemetryMetric } from "../../../telemetry/series.ts";
import { telemetryLabel } from "../layout.ts";
import { formatTwoDecimals } from "../python-format.ts";
import type { TelemetryStatistics } from "../result.ts";
import { formatRichTable } from "../rich-table.ts";
import { readGpus, toGpuMetrics } from "./dcgm-metrics.ts";
import { isNoise, toServerSeries } from "./server-metrics.ts";

/** GPU metrics as GenAI-Perf reports them. */

interface PageMetric {
  readonly name: string;
  readonly unit: string;
  /** Factor from the exporter's unit to this one. Default: 1. */
  readonly scale?: number;
  /** Constant: only its average is reported. */
  readonly isConstant?: boolean;
}

const MIB_TO_GB = 1.048576 * 1e-3;
const BYTES_TO_KB = 1 / 1024;

/** In the order of JSON and CSV. */
export const PAGE_METRICS: readonly PageMetric[] = [
  { name: "gpu_power_usage", unit: "W" },
  { name: "gpu_power_limit", unit: "W", isConstant: true },
  { name: "energy_consumption", unit: "MJ", scale: 1e-9 },
  { name: "total_gpu_memory", unit: "GB", scale: MIB_TO_GB, isConstant: true },
  { name: "gpu_memory_used", unit: "GB", scale: MIB_TO_GB },
  { name: "gpu_memory_free", unit: "GB", scale: MIB_TO_GB },
  { name: "gpu_utilization", unit: "%" },
  { name: "sm_utilization", unit: "%", scale: 100 },
  { name: "memory_copy_utilization", unit: "%" },
  { name: "video_encoder_utilization", unit: "%" },
  { name: "video_decoder_utilization", unit: "%" },
  { name: "gpu_clock_sm", unit: "MHz" },
  { name: "gpu_clock_memory", unit: "MHz" },
  { name: "gpu_temperature", unit: "C" },
  { name: "gpu_memory_temperature", unit: "C" },
  { name: "total_ecc_sbe_volatile", unit: "errors" },
  { name: "total_ecc_dbe_volatile", unit: "errors" },
  { name: "total_ecc_sbe_aggregate", unit: "errors" },
  { name: "total_ecc_dbe_aggregate", unit: "errors" },
  { name: "xid_last_error", unit: "errors" },
  { name: "power_throttle_duration", unit: "us" },
  { name: "thermal_throttle_duration", unit: "us" },
  { name: "retired_pages_sbe", unit: "pages" },
  { name: "retired_pages_dbe", unit: "pages" },
  { name: "total_nvlink_crc_flit_errors", unit: "errors" },
  { name: "total_nvlink_crc_data_errors", unit: "errors" },
  { name: "pcie_transmit_throughput", unit: "KB/s", scale: BYTES_TO_KB },
  { name: "pcie_receive_throughput", unit: "KB/s", scale: BYTES_TO_KB },
  { name: "pcie_replay_counter", unit: "retries" },
];

/** Returns the metrics over time: GPU metrics in GenAI-Perf's units, then other server metrics that were not always 0. */
export function toTelemetrySeries(scrape: ScrapeResult): TelemetryMetric[] {
  const others = toServerSeries(scrape).filter(({ name }) => !isNoise(name));
  return [...toGpuMetrics(readGpus(scrape), PAGE_METRICS), ...others].filter(({ series }) =>
    series.some(({ values }) => values.some((value) => value !== 0)),
  );
}

/** Returns the GPU readings for {@link toTelemetryStatistics}; empty without a DCGM exporter. */
export function toGpuSamples(scrape: ScrapeResult): GpuSamples {
  return new Map(
    [...readGpus(scrape)].map(([name, gpus]) => [
      name,
      new Map([...gpus].map(([gpu, { values }]) => [gpu, Float64Array.from(values)])),
    ]),
  );
}

/** Values in the units of the DCGM exporter, by metric of {@link PAGE_METRICS} and by GPU (`gpu0`). */
export type GpuSamples = ReadonlyMap<string, ReadonlyMap<string, Float64Array>>;

/** Computes statistics of GPU metrics in GenAI-Perf's units and order. Metrics without values are left out. */
export function toTelemetryStatistics(samples: GpuSamples): TelemetryStatistics {
  const statistics = new Map<string, { unit: string; gpus: Map<string, ReadonlyMap<StatisticName, number>> }>();
  for (const { name, unit, scale = 1, isConstant = false } of PAGE_METRICS) {
    const gpus = new Map<string, ReadonlyMap<StatisticName, number>>();
    for (const [gpu, values] of samples.get(name) ?? []) {
      const summary = summarize(values);
      if (summary === undefined) continue;
      const wanted = Object.entries(summary).filter(([statistic]) => !isConstant || statistic === "avg");
      gpus.set(gpu, new Map(wanted.map(([statistic, value]) => [statistic as StatisticName, value * scale])));
    }
    if (gpus.size > 0) statistics.set(name, { unit, gpus });
  }
  return statistics;
}

const STATISTICS = ["avg", "min", "max", "p99", "p90", "p75"] as const;
const GROUPS: readonly (readonly [title: string, metrics: readonly string[]])[] = [
  ["Power", ["gpu_power_usage", "gpu_power_limit", "energy_consumption"]],
  ["Memory", ["gpu_memory_used", "total_gpu_memory"]],
  ["Utilization", ["gpu_utilization"]],
];

/** Formats the tables that GenAI-Perf prints with `-v` below its own; empty without GPUs. */
export function formatTelemetryConsole(telemetry: TelemetryStatistics): string {
  return GROUPS.map(([title, names]) => {
    const tables = names.map((name) => formatMetricTable(telemetry, name)).filter((table) => table !== undefined);
    if (tables.length === 0) return "";
    const rows = tables.map((table) => [table.trimEnd()]);
    return formatRichTable(`NVIDIA GenAI-Perf | ${title} Metrics`, [""], rows, "left");
  }).join("");
}

function formatMetricTable(telemetry: TelemetryStatistics, name: string): string | undefined {
  const metric = telemetry.get(name);
  if (metric === undefined) return undefined;
  const rows = [...metric.gpus]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([gpu, values]) => [gpu, ...STATISTICS.map((statistic) => formatValue(name, values.get(statistic)))]);
  return formatRichTable(telemetryLabel(name, metric.unit), ["GPU Index", ...STATISTICS], rows);
}

function formatValue(name: string, value: number | undefined): string {
  if (value === undefined) return "N/A";
  return name === "gpu_utilization" ? String(roundHalfEven(value)) : formatTwoDecimals(value);
}
