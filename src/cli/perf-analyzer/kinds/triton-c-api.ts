import { noMetrics } from "../rule.ts";
import type { Settings } from "../settings.ts";
import type { PerfAnalyzerKind } from "./kind.ts";

/** Options of a connection and its protocol, and of a server's traces. perf_analyzer ignores them for this kind. */
const OF_SERVER = /^(-[iuH]|--grpc-compression-algorithm|--log-frequency|--(ssl|trace)-.+|--.+-tensor-format)$/;

/** Triton's library in a separate process. */
export const tritonInProcessKind: PerfAnalyzerKind = {
  help: "triton_c_api, which is Triton's library of --triton-server-directory without a network",
  features: ["library", "sequences", "tensors", "triton", "versions"],
  ignores: (flag) => OF_SERVER.test(flag),
  prepare: (settings: Settings) => {
    // There is no protocol; requests have the form of gRPC's, and the rules for it apply.
    settings.target = { ...settings.target, protocol: "grpc" };
  },
  rules: ({ target, isAsync, isCollectingMetrics }) => [
    [
      target.directory === "",
      "--triton-server-directory",
      "--triton-server-path should not be empty when using service-kind=triton_c_api.",
      "Give Triton's installation.",
    ],
    [
      target.modelRepository === "",
      "--model-repository",
      "--model-repository should not be empty when using service-kind=triton_c_api.",
      "Give the folder of the models.",
    ],
    [
      isAsync && target.isStreaming && target.sharedMemory !== "none",
      "--shared-memory",
      "Cannot use --shared-memory=system or --shared-memory=cuda with --service-kind=triton_c_api and --async and --streaming.",
      "Leave one of them out.",
    ],
    [
      target.sharedMemory === "cuda",
      "--shared-memory",
      "--shared-memory cuda cannot be used with --service-kind triton_c_api.",
      "Give system or none.",
    ],
    noMetrics(isCollectingMetrics, "Leave it out: the library's statistics are in the report."),
  ],
  toTarget: ({ target }) => ({
    kind: "triton-c-api",
    directory: target.directory,
    modelRepository: target.modelRepository,
    model: target.model,
    protocol: "grpc",
    modelVersion: target.modelVersion,
    batchSize: target.batchSize,
    isStreaming: target.isStreaming,
    shapes: target.shapes,
    sharedMemory: target.sharedMemory === "system" ? "system" : "none",
    outputSharedMemoryBytes: target.outputSharedMemoryBytes,
    parameters: target.parameters,
    composingModels: target.composingModels,
  }),
};
