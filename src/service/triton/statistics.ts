import { AnswerObject } from "../answer.ts";
import type { ServerCounters } from "../statistics.ts";

/** Reads Triton's statistics answer, one entry per model version. Throws `ProtocolError`. */
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
    inferenceCount: model.number("inference_count"),
    executionCount: model.number("execution_count"),
    successCount: success.number("count"),
    successNs: success.number("ns"),
    failCount: fail.number("count"),
    queueCount: queue.number("count"),
    queueNs: queue.number("ns"),
    computeInputCount: input.number("count"),
    computeInputNs: input.number("ns"),
    computeInferCount: infer.number("count"),
    computeInferNs: infer.number("ns"),
    computeOutputCount: output.number("count"),
    computeOutputNs: output.number("ns"),
    cacheHitCount: hit.number("count"),
    cacheHitNs: hit.number("ns"),
    cacheMissCount: miss.number("count"),
    cacheMissNs: miss.number("ns"),
  };
}
