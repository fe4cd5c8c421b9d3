import type { ScrapedEndpoint, ScrapedSeries, ScrapeResult } from "../../../telemetry/scrape-result.ts";
import type { TelemetryMetric, TelemetrySeries } from "../../../telemetry/series.ts";

/**
 * GenAI-Perf's metric names by field of DCGM exporters (https://docs.nvidia.com/datacenter/dcgm/latest/gpu-telemetry/dcgm-exporter.html).
 */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["DCGM_FI_DEV_POWER_USAGE", "gpu_power_usage"],
  ["DCGM_FI_DEV_POWER_MGMT_LIMIT", "gpu_power_limit"],
  ["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "energy_consumption"],
  ["DCGM_FI_DEV_FB_TOTAL", "total_gpu_memory"],
  ["DCGM_FI_DEV_FB_USED", "gpu_memory_used"],
  ["DCGM_FI_DEV_FB_FREE", "gpu_memory_free"],
  ["DCGM_FI_DEV_GPU_UTIL", "gpu_utilization"],
  ["DCGM_FI_PROF_SM_ACTIVE", "sm_utilization"],
  ["DCGM_FI_DEV_MEM_COPY_UTIL", "memory_copy_utilization"],
  ["DCGM_FI_DEV_ENC_UTIL", "video_encoder_utilization"],
  ["DCGM_FI_DEV_DEC_UTIL", "video_decoder_utilization"],
  ["DCGM_FI_DEV_SM_CLOCK", "gpu_clock_sm"],
  ["DCGM_FI_DEV_MEM_CLOCK", "gpu_clock_memory"],
  ["DCGM_FI_DEV_GPU_TEMP", "gpu_temperature"],
  ["DCGM_FI_DEV_MEMORY_TEMP", "gpu_memory_temperature"],
  ["DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "total_ecc_sbe_volatile"],
  ["DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "total_ecc_dbe_volatile"],
  ["DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "total_ecc_sbe_aggregate"],
  ["DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "total_ecc_dbe_aggregate"],
  ["DCGM_FI_DEV_XID_ERRORS", "xid_last_error"],
  ["DCGM_FI_DEV_POWER_VIOLATION", "power_throttle_duration"],
  ["DCGM_FI_DEV_THERMAL_VIOLATION", "thermal_throttle_duration"],
  ["DCGM_FI_DEV_RETIRED_SBE", "retired_pages_sbe"],
  ["DCGM_FI_DEV_RETIRED_DBE", "retired_pages_dbe"],
  ["DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "total_nvlink_crc_flit_errors"],
  ["DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "total_nvlink_crc_data_errors"],
  ["DCGM_FI_PROF_PCIE_TX_BYTES", "pcie_transmit_throughput"],
  ["DCGM_FI_PROF_PCIE_RX_BYTES", "pcie_receive_throughput"],
  ["DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "pcie_replay_counter"],
]);

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

/** Converts them to metrics over time. @param units unit and factor by metric name; metrics without an entry are omitted */
export function toGpuMetrics(
  gpus: ReadonlyMap<string, ReadonlyMap<string, TelemetrySeries>>,
  units: readonly { readonly name: string; readonly unit: string; readonly scale?: number }[],
): TelemetryMetric[] {
  return units.flatMap(({ name, unit, scale = 1 }) => {
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
    const name = NAMES.get(family.name);
    if (name !== undefined) for (const one of family.series) yield [name, one];
  }
}

/** Returns the GPU's index; for a MIG instance, `index/instance`. */
function gpuOf({ labels }: ScrapedSeries): string | undefined {
  const gpu = labels.get("gpu");
  if (gpu === undefined || gpu === "") return undefined;
  const part = labels.get("GPU_I_ID") ?? "";
  return part === "" ? gpu : `${gpu}/${part}`;
}
