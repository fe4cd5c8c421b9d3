import assert from "node:assert/strict";
import { test } from "node:test";
import type { GpuReading } from "../../src/measure/gpu-tally.ts";
import { missingFamilies, readGpuMetrics } from "../../src/telemetry/gpu-metrics.ts";
import { twoGpus } from "../servers/metrics-stub.ts";

/** Triton's GPU metrics. */

function plain(reading: GpuReading): Record<string, Record<string, number>> {
  return Object.fromEntries(Object.entries(reading).map(([metric, byUuid]) => [metric, Object.fromEntries(byUuid)]));
}

test("every family of every GPU is read", () => {
  assert.deepEqual(plain(readGpuMetrics(twoGpus(1))), {
    utilizationRatio: { "GPU-aaa": 0.26, "GPU-bbb": 0.5 },
    powerWatts: { "GPU-aaa": 51.5, "GPU-bbb": 60 },
    powerLimitWatts: { "GPU-aaa": 300, "GPU-bbb": 250 },
    energyJoules: { "GPU-aaa": 1010, "GPU-bbb": 500 },
    memoryTotalBytes: { "GPU-aaa": 17179869184, "GPU-bbb": 17179869184 },
    memoryUsedBytes: { "GPU-aaa": 1000000001, "GPU-bbb": 2000000000 },
  });
  assert.deepEqual(missingFamilies(readGpuMetrics(twoGpus(1)), true), []);
});

test("samples without a GPU, without a number and of other families are left out", () => {
  const text = [
    "nv_gpu_utilization 0.5",
    'nv_gpu_power_usage{gpu_uuid="a"} NaN',
    'nv_gpu_memory_used_bytes{gpu_uuid="a",host="h"} 1e3',
    'nv_inference_count{model="m"} 7',
    'nv_gpu_utilization_total{gpu_uuid="a"} 1',
  ].join("\n");
  const reading = readGpuMetrics(text);
  assert.deepEqual(plain(reading), { memoryUsedBytes: { a: 1000 } });
  assert.deepEqual(missingFamilies(reading, true), [
    "nv_gpu_utilization",
    "nv_gpu_power_usage",
    "nv_gpu_memory_total_bytes",
  ]);
});

test("the use of KV caches is read from the pages of engines, which have no GPUs", () => {
  const text = [
    'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25',
    'vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.5',
    "sglang:token_usage 0.83",
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="used",model="t",version="1"} 3',
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",model="t",version="1"} 0.1',
  ].join("\n");
  const reading = readGpuMetrics(text);
  assert.deepEqual(plain(reading), { kvCacheRatio: { "0 m": 0.25, "1 m": 0.5, "": 0.83, "fraction t 1": 0.1 } });
  assert.deepEqual(missingFamilies(reading, false), []);
  assert.equal(missingFamilies(reading, true).length, 4);
});

test("missing are those that perf_analyzer reports, in its order", () => {
  assert.deepEqual(missingFamilies(readGpuMetrics(""), true), [
    "nv_gpu_utilization",
    "nv_gpu_power_usage",
    "nv_gpu_memory_used_bytes",
    "nv_gpu_memory_total_bytes",
  ]);
});
