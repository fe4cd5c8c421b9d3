import { AnswerObject } from "../answer.ts";
import type { ServerCounters } from "../statistics.ts";

/** Reads Triton's statistics, one entry per model version. @throws RunError when they violate the protocol */
export function readStatistics(data: unknown): ServerCounters[] {
  const counters: ServerCounters[] = [];
  for (const model of AnswerObject.of(data, "model statistics").objects("model_stats"))
    counters.push(readCounters(model));
  return counters;
}

function readCounters(model: AnswerObject): ServerCounters {
  const stats = model.object("inference_stats");
  const [success, fail, queue] = [stats.object("success"), stats.object("fail"), stats.object("queue")];
  const [input, infer, output] = [
    stats.object("compute_input"),
    stats.object("compute_infer"),
    stats.object("compute_output"),
  ];
  const [hit, miss] = [stats.object("cache_hit"), stats.object("cache_miss")];
  return {
    name: model.string("name"),
    version: model.string("version"),
    inferenceCount: model.integer("inference_count", 0),
    executionCount: model.integer("execution_count", 0),
    successCount: success.integer("count", 0),
    successNs: success.integer("ns", 0),
    failCount: fail.integer("count", 0),
    queueCount: queue.integer("count", 0),
    queueNs: queue.integer("ns", 0),
    computeInputCount: input.integer("count", 0),
    computeInputNs: input.integer("ns", 0),
    computeInferCount: infer.integer("count", 0),
    computeInferNs: infer.integer("ns", 0),
    computeOutputCount: output.integer("count", 0),
    computeOutputNs: output.integer("ns", 0),
    cacheHitCount: hit.integer("count", 0),
    cacheHitNs: hit.integer("ns", 0),
    cacheMissCount: miss.integer("count", 0),
    cacheMissNs: miss.integer("ns", 0),
  };
}
