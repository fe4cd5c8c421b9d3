import type { GpuMetric, GpuReading } from "../measure/gpu-tally.ts";
import { Exposition } from "./exposition.ts";

interface Family {
  readonly metric: GpuMetric;
  /** Whether perf_analyzer reports the metric, so that a missing one needs a warning. */
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

/** Parses Triton's GPU metrics, by UUID of the GPU. Omits samples without UUID or finite value. @param exposition of the same server's earlier texts, which makes it cheap */
export function readGpuMetrics(text: string, exposition = new Exposition()): GpuReading {
  const reading: { [K in GpuMetric]?: Map<string, number> } = {};
  exposition.read(text, ({ name, labels }, value) => {
    const family = FAMILIES.get(name);
    const uuid = labels.get("gpu_uuid");
    if (family === undefined || uuid === undefined || !Number.isFinite(value)) return;
    const byUuid = reading[family.metric] ?? new Map<string, number>();
    byUuid.set(uuid, value);
    reading[family.metric] = byUuid;
  });
  return reading;
}

/** Returns the names of reported families that are missing in a reading. */
export function missingFamilies(reading: GpuReading): string[] {
  const missing: string[] = [];
  for (const [name, { metric, isReported }] of FAMILIES)
    if (isReported && reading[metric] === undefined) missing.push(name);
  return missing;
}
