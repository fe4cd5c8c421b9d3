import type { GpuMetric, GpuReading } from "../measure/gpu-tally.ts";
import { parsePrometheus } from "./prometheus.ts";

/** The GPU metrics of Triton, each by the GPU's UUID. */

interface Family {
  readonly metric: GpuMetric;
  /** Whether perf_analyzer reports it, and so says when it is missing. */
  readonly isReported: boolean;
}

const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ["nv_gpu_utilization", { metric: "utilizationRatio", isReported: true }],
  ["nv_gpu_power_usage", { metric: "powerWatts", isReported: true }],
  ["nv_gpu_power_limit", { metric: "powerLimitWatts", isReported: false }],
  ["nv_energy_consumption", { metric: "energyJoules", isReported: false }],
  ["nv_gpu_memory_used_bytes", { metric: "memoryUsedBytes", isReported: true }],
  ["nv_gpu_memory_total_bytes", { metric: "memoryTotalBytes", isReported: true }],
]);

/** Reads a scrape; samples without a GPU or a finite value are left out. */
export function readGpuMetrics(text: string): GpuReading {
  const reading: { [K in GpuMetric]?: Map<string, number> } = {};
  for (const { name, labels, value } of parsePrometheus(text, (family) => FAMILIES.has(family))) {
    const family = FAMILIES.get(name);
    const uuid = labels.get("gpu_uuid");
    if (family === undefined || uuid === undefined || !Number.isFinite(value)) continue;
    const byUuid = reading[family.metric] ?? new Map<string, number>();
    byUuid.set(uuid, value);
    reading[family.metric] = byUuid;
  }
  return reading;
}

/** The names of the families that should be in a reading and are not. */
export function missingFamilies(reading: GpuReading): string[] {
  const missing: string[] = [];
  for (const [name, { metric, isReported }] of FAMILIES)
    if (isReported && reading[metric] === undefined) missing.push(name);
  return missing;
}
