import { roundHalfEven, type StatisticName, summarize } from "../../../measure/numpy-statistics.ts";
import type { ScrapedEndpoint, ScrapedSeries, ScrapeResult } from "../../../telemetry/scrape-result.ts";
import type { TelemetryMetric, TelemetrySeries } from "../../../telemetry/series.ts";
import { TABLE_STATISTICS, telemetryLabel } from "../layout.ts";
import { formatTwoDecimals } from "../python-format.ts";
import type { TelemetryStatistics } from "../result.ts";
import { formatRichTable } from "../rich-table.ts";
import { isNoise, toServerSeries } from "./server-metrics.ts";

/** GPU metrics as GenAI-Perf reports them. */

interface PageMetric {
  readonly name: string;
  readonly field: string;
  readonly unit: string;
  /** Factor from the exporter's unit to this one. Default: 1 */
  readonly scale?: number;
  /** Set if constant: only its average is reported. */
  readonly isConstant?: true;
  /** Set if GenAI-Perf uses the mean over several hosts. Absent: the maximum. */
  readonly isMean?: true;
}

const MIB_TO_GB = 1.048576 * 1e-3;
const BYTES_TO_KB = 1 / 1024;

/**
 * In the order of JSON and CSV. The fields are those of DCGM exporters
 * (https://docs.nvidia.com/datacenter/dcgm/latest/gpu-telemetry/dcgm-exporter.html).
 */
const PAGE_METRICS: readonly PageMetric[] = [
  { name: "gpu_power_usage", field: "DCGM_FI_DEV_POWER_USAGE", unit: "W", isMean: true },
  { name: "gpu_power_limit", field: "DCGM_FI_DEV_POWER_MGMT_LIMIT", unit: "W", isConstant: true },
  { name: "energy_consumption", field: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", unit: "MJ", scale: 1e-9, isMean: true },
  { name: "total_gpu_memory", field: "DCGM_FI_DEV_FB_TOTAL", unit: "GB", scale: MIB_TO_GB, isConstant: true },
  { name: "gpu_memory_used", field: "DCGM_FI_DEV_FB_USED", unit: "GB", scale: MIB_TO_GB },
  { name: "gpu_memory_free", field: "DCGM_FI_DEV_FB_FREE", unit: "GB", scale: MIB_TO_GB },
  { name: "gpu_utilization", field: "DCGM_FI_DEV_GPU_UTIL", unit: "%", isMean: true },
  { name: "sm_utilization", field: "DCGM_FI_PROF_SM_ACTIVE", unit: "%", scale: 100 },
  { name: "memory_copy_utilization", field: "DCGM_FI_DEV_MEM_COPY_UTIL", unit: "%" },
  { name: "video_encoder_utilization", field: "DCGM_FI_DEV_ENC_UTIL", unit: "%" },
  { name: "video_decoder_utilization", field: "DCGM_FI_DEV_DEC_UTIL", unit: "%" },
  { name: "gpu_clock_sm", field: "DCGM_FI_DEV_SM_CLOCK", unit: "MHz" },
  { name: "gpu_clock_memory", field: "DCGM_FI_DEV_MEM_CLOCK", unit: "MHz" },
  { name: "gpu_temperature", field: "DCGM_FI_DEV_GPU_TEMP", unit: "C" },
  { name: "gpu_memory_temperature", field: "DCGM_FI_DEV_MEMORY_TEMP", unit: "C" },
  { name: "total_ecc_sbe_volatile", field: "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", unit: "errors" },
  { name: "total_ecc_dbe_volatile", field: "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", unit: "errors" },
  { name: "total_ecc_sbe_aggregate", field: "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", unit: "errors" },
  { name: "total_ecc_dbe_aggregate", field: "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", unit: "errors" },
  { name: "xid_last_error", field: "DCGM_FI_DEV_XID_ERRORS", unit: "errors" },
  { name: "power_throttle_duration", field: "DCGM_FI_DEV_POWER_VIOLATION", unit: "us" },
  { name: "thermal_throttle_duration", field: "DCGM_FI_DEV_THERMAL_VIOLATION", unit: "us" },
  { name: "retired_pages_sbe", field: "DCGM_FI_DEV_RETIRED_SBE", unit: "pages" },
  { name: "retired_pages_dbe", field: "DCGM_FI_DEV_RETIRED_DBE", unit: "pages" },
  { name: "total_nvlink_crc_flit_errors", field: "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", unit: "errors" },
  { name: "total_nvlink_crc_data_errors", field: "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", unit: "errors" },
  { name: "pcie_transmit_throughput", field: "DCGM_FI_PROF_PCIE_TX_BYTES", unit: "KB/s", scale: BYTES_TO_KB },
  { name: "pcie_receive_throughput", field: "DCGM_FI_PROF_PCIE_RX_BYTES", unit: "KB/s", scale: BYTES_TO_KB },
  { name: "pcie_replay_counter", field: "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", unit: "retries" },
];

const BY_FIELD = new Map(PAGE_METRICS.map((metric) => [metric.field, metric]));
const BY_NAME = new Map(PAGE_METRICS.map((metric) => [metric.name, metric]));

/** Returns the facts about a GPU metric by GenAI-Perf's name; undefined for an unknown metric. */
export function gpuMetricOf(name: string): Pick<PageMetric, "isConstant" | "isMean"> | undefined {
  return BY_NAME.get(name);
}

/** Returns the metrics over time: GPU metrics in GenAI-Perf's units, then other server metrics that were not always 0. */
export function toTelemetrySeries(scrape: ScrapeResult): TelemetryMetric[] {
  const others = toServerSeries(scrape).filter(({ name }) => !isNoise(name));
  return [...toGpuMetrics(readGpus(scrape)), ...others].filter(({ series }) =>
    series.some(({ values }) => values.some((value) => value !== 0)),
  );
}

/** Values in the units of the DCGM exporter, by metric of {@link PAGE_METRICS} and by GPU (`gpu0`). */
type GpuSamples = ReadonlyMap<string, ReadonlyMap<string, Pick<TelemetrySeries, "values">>>;

/** Computes statistics of GPU metrics in GenAI-Perf's units and order, without metrics that have no values. */
export function toTelemetryStatistics(samples: GpuSamples): TelemetryStatistics {
  const statistics = new Map<string, { unit: string; gpus: Map<string, ReadonlyMap<StatisticName, number>> }>();
  for (const { name, unit, scale = 1, isConstant = false } of PAGE_METRICS) {
    const gpus = new Map<string, ReadonlyMap<StatisticName, number>>();
    for (const [gpu, { values }] of samples.get(name) ?? []) {
      const summary = summarize(Float64Array.from(values), true);
      if (summary === undefined) continue;
      const wanted = Object.entries(summary).filter(([statistic]) => !isConstant || statistic === "avg");
      gpus.set(gpu, new Map(wanted.map(([statistic, value]) => [statistic as StatisticName, value * scale])));
    }
    if (gpus.size > 0) statistics.set(name, { unit, gpus });
  }
  return statistics;
}

const GROUPS: readonly (readonly [title: string, metrics: readonly string[]])[] = [
  ["Power", ["gpu_power_usage", "gpu_power_limit", "energy_consumption"]],
  ["Memory", ["gpu_memory_used", "total_gpu_memory"]],
  ["Utilization", ["gpu_utilization"]],
];

/** Formats the tables that GenAI-Perf prints with `-v` below its main table; empty without GPUs. */
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
    .map(([gpu, values]) => [gpu, ...TABLE_STATISTICS.map((statistic) => formatValue(name, values.get(statistic)))]);
  return formatRichTable(telemetryLabel(name, metric.unit), ["GPU Index", ...TABLE_STATISTICS], rows);
}

function formatValue(name: string, value: number | undefined): string {
  if (value === undefined) return "N/A";
  return name === "gpu_utilization" ? String(roundHalfEven(value)) : formatTwoDecimals(value);
}

/** Returns the GPU readings of DCGM exporters, in the exporter's units, by GenAI-Perf's metric name and then by GPU. */
export function readGpus({ endpoints }: ScrapeResult): Map<string, Map<string, TelemetrySeries>> {
  const exporters = endpoints.filter(hasGpus);
  const metrics = new Map<string, Map<string, TelemetrySeries>>();
  for (const endpoint of exporters) {
    // GPUs of several machines have the same indexes.
    const prefix = exporters.length > 1 ? `${new URL(endpoint.url).host}/` : "";
    for (const [name, series] of gpuSeries(endpoint)) {
      const gpus = metrics.get(name) ?? new Map<string, TelemetrySeries>();
      metrics.set(name, gpus);
      const gpu = gpuOf(series);
      if (gpu === undefined || series.kind === "histogram") continue;
      const { timesSec, values } = series.readings;
      const label = prefix + gpu;
      gpus.set(label, { label, timesSec: [...timesSec], values: [...values] });
    }
  }
  return metrics;
}

/** Converts GPU readings to metrics over time, in the units of {@link PAGE_METRICS}. */
function toGpuMetrics(gpus: ReadonlyMap<string, ReadonlyMap<string, TelemetrySeries>>): TelemetryMetric[] {
  return PAGE_METRICS.flatMap(({ name, unit, scale = 1 }) => {
    const series = [...(gpus.get(name)?.values() ?? [])];
    if (series.length === 0) return [];
    return [
      { name, unit, series: series.map((one) => ({ ...one, values: one.values.map((value) => value * scale) })) },
    ];
  });
}

function hasGpus(endpoint: ScrapedEndpoint): boolean {
  for (const [, series] of gpuSeries(endpoint)) if (gpuOf(series) !== undefined) return true;
  return false;
}

function* gpuSeries({ families }: ScrapedEndpoint): Generator<[name: string, series: ScrapedSeries]> {
  for (const family of families) {
    const metric = BY_FIELD.get(family.name);
    if (metric !== undefined) for (const one of family.series) yield [metric.name, one];
  }
}

/** Returns the GPU's index; for a MIG instance, `index/instance`. */
function gpuOf({ labels }: ScrapedSeries): string | undefined {
  const gpu = labels.get("gpu");
  if (gpu === undefined || gpu === "") return undefined;
  const part = labels.get("GPU_I_ID") ?? "";
  return part === "" ? gpu : `${gpu}/${part}`;
}
