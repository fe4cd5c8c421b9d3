import type { GpuMetric, GpuReading } from "../measure/gpu-tally.ts";
import { Exposition, type SampleKey } from "./exposition.ts";

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

/** Use of the KV cache, 0 to 1: of vLLM, of its older versions, of SGLang, and of TensorRT-LLM on Triton. */
const KV_CACHE_NAMES: ReadonlySet<string> = new Set([
  "vllm:kv_cache_usage_perc",
  "vllm:gpu_cache_usage_perc",
  "sglang:token_usage",
  "nv_trt_llm_kv_cache_block_metrics",
]);
/** TensorRT-LLM has numbers of blocks under the same name. */
const BLOCK_TYPE = "kv_cache_block_type";

/** Returns what a sample is of, and whose: of Triton's GPUs, or of the KV cache of an engine. Undefined for other samples. */
function identify({ name, labels }: SampleKey): readonly [metric: GpuMetric, id: string] | undefined {
  const family = FAMILIES.get(name);
  const uuid = labels.get("gpu_uuid");
  if (family !== undefined && uuid !== undefined) return [family.metric, uuid];
  if (!KV_CACHE_NAMES.has(name) || (labels.get(BLOCK_TYPE) ?? "fraction") !== "fraction") return undefined;
  return ["kvCacheRatio", [...labels.values()].join(" ")];
}

/** Parses Triton's GPU metrics, by UUID of the GPU, and the use of KV caches. Omits samples without UUID or finite value. @param exposition of the same server's earlier texts, which makes it cheap */
export function readGpuMetrics(text: string, exposition = new Exposition()): GpuReading {
  const reading: { [K in GpuMetric]?: Map<string, number> } = {};
  exposition.read(text, (key, value) => {
    const [metric, id] = identify(key) ?? [];
    if (metric === undefined || id === undefined || !Number.isFinite(value)) return;
    const byId = reading[metric] ?? new Map<string, number>();
    byId.set(id, value);
    reading[metric] = byId;
  });
  return reading;
}

/** Returns the names of reported families that are missing in a reading. @param needsGpus false: none for the page of an engine, which has no GPUs */
export function missingFamilies(reading: GpuReading, needsGpus: boolean): string[] {
  if (!needsGpus && Object.keys(reading).join() === "kvCacheRatio") return [];
  const missing: string[] = [];
  for (const [name, { metric, isReported }] of FAMILIES)
    if (isReported && reading[metric] === undefined) missing.push(name);
  return missing;
}
