import { DEFAULT_TF_SERVING_TARGET } from "../../../service/tfserving/target.ts";
import { noMetrics, type Rule } from "../rule.ts";
import type { Settings } from "../settings.ts";
import type { PerfAnalyzerKind } from "./kind.ts";

/** TensorFlow Serving over gRPC. */
export const tfServingKind: PerfAnalyzerKind = {
  help: "tfserving, TensorFlow Serving over gRPC (needs -i grpc)",
  takesPayloads: false,
  hasSignatures: true,
  unused: ({ given }) => (given.has(UNUSED_FLAG) ? [UNUSED_FLAG] : []),
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

/** perf_analyzer accepts this option for this kind and ignores it. */
const UNUSED_FLAG = "--request-parameter";

const KSERVE_FLAGS = ["--bls-composing-models", "--input-tensor-format", "--output-tensor-format"] as const;

const SEQUENCE_FLAGS = [
  "--sequence-length",
  "--sequence-length-variation",
  "--sequence-id-range",
  "--num-of-sequences",
  "--serial-sequences",
] as const;

/** Returns perf_analyzer's rules in its words, and rules for what it ignores: trace settings, sequences, KServe's options. */
function tfServingRules({ target, isAsync, isCollectingMetrics, telemetry, given }: Settings): Rule[] {
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
    [
      target.sharedMemory !== "none",
      "--shared-memory",
      "client backend of kind TENSORFLOW_SERVING does not support CreateSharedMemoryRegion()",
      "Leave --shared-memory out.",
    ],
    [
      Object.values(telemetry.trace).some((value) => value !== null),
      "--trace-level",
      "A TensorFlow Serving server has no trace settings.",
      "Leave the --trace options out.",
    ],
    ...KSERVE_FLAGS.map(
      (flag): Rule => [
        given.has(flag),
        flag,
        `${flag} is of the KServe protocol, which a TensorFlow Serving server does not speak.`,
        `Leave ${flag} out.`,
      ],
    ),
    ...SEQUENCE_FLAGS.map(
      (flag): Rule => [given.has(flag), flag, "TensorFlow Serving has no sequences.", `Leave ${flag} out.`],
    ),
  ];
}
