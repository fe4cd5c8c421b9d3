import * as v from "valibot";
import type { ServerCounters } from "../statistics.ts";
import { check } from "./model.ts";

/** gRPC leaves zeros out; HTTP writes them. */
const count = v.optional(v.number(), 0);
const durationSchema = v.optional(v.object({ count, ns: count }), {});

const statisticsSchema = v.object({
  model_stats: v.optional(
    v.array(
      v.object({
        name: v.string(),
        version: v.string(),
        inference_count: count,
        execution_count: count,
        inference_stats: v.optional(
          v.object({
            success: durationSchema,
            fail: durationSchema,
            queue: durationSchema,
            compute_input: durationSchema,
            compute_infer: durationSchema,
            compute_output: durationSchema,
            cache_hit: durationSchema,
            cache_miss: durationSchema,
          }),
          {},
        ),
      }),
    ),
    [],
  ),
});

/** Reads Triton's statistics answer, one entry per model version. Throws `ProtocolError`. */
export function readStatistics(data: unknown): ServerCounters[] {
  return check(statisticsSchema, data, "model statistics").model_stats.map((model): ServerCounters => {
    const stats = model.inference_stats;
    return {
      name: model.name,
      version: model.version,
      inferenceCount: model.inference_count,
      executionCount: model.execution_count,
      successCount: stats.success.count,
      successNs: stats.success.ns,
      failCount: stats.fail.count,
      queueCount: stats.queue.count,
      queueNs: stats.queue.ns,
      computeInputCount: stats.compute_input.count,
      computeInputNs: stats.compute_input.ns,
      computeInferCount: stats.compute_infer.count,
      computeInferNs: stats.compute_infer.ns,
      computeOutputCount: stats.compute_output.count,
      computeOutputNs: stats.compute_output.ns,
      cacheHitCount: stats.cache_hit.count,
      cacheHitNs: stats.cache_hit.ns,
      cacheMissCount: stats.cache_miss.count,
      cacheMissNs: stats.cache_miss.ns,
    };
  });
}
