import { DEFAULT_TF_SERVING_TARGET } from "../../../service/tfserving/target.ts";
import { noMetrics, noSharedMemory, type Rule } from "../rule.ts";
import type { Settings } from "../settings.ts";
import type { PerfAnalyzerKind } from "./kind.ts";

/** TensorFlow Serving over gRPC. */
export const tfServingKind: PerfAnalyzerKind = {
  help: "tfserving, TensorFlow Serving over gRPC (needs -i grpc)",
  features: ["signatures", "tensors", "versions"],
  rules: tfServingRules,
  toTarget: ({ target, signatureName }, { url, tls }) => ({
    ...DEFAULT_TF_SERVING_TARGET,
    url,
    model: target.model,
    modelVersion: target.modelVersion,
    signatureName,
    batchSize: target.batchSize,
    headers: target.headers,
    shapes: target.shapes,
    compression: target.compression,
    tls,
  }),
};

/** Returns perf_analyzer's rules in its words. */
function tfServingRules({ target, isAsync, isCollectingMetrics }: Settings): Rule[] {
  return [
    [
      target.protocol !== "grpc",
      "-i",
      "perf_analyzer supports only grpc protocol for TensorFlow Serving.",
      "Add -i grpc.",
    ],
    [
      target.isStreaming,
      "--streaming",
      "perf_analyzer does not support streaming for TensorFlow Serving.",
      "Leave --streaming out.",
    ],
    [
      isAsync,
      "--async",
      "perf_analyzer does not support async API for TensorFlow Serving.",
      "Leave --async out, or write a scenario with tfserving(…).",
    ],
    noMetrics(isCollectingMetrics),
    noSharedMemory(target.sharedMemory, "TENSORFLOW_SERVING"),
  ];
}
