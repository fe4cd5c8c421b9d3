import type { TritonTargetPlan } from "./plan.ts";
import { DEFAULT_TLS } from "./tls.ts";

/** A Triton target with perf_analyzer's defaults. */
export const DEFAULT_TRITON_TARGET: Omit<TritonTargetPlan, "url" | "protocol" | "model"> = {
  kind: "triton",
  modelVersion: "",
  batchSize: 1,
  isStreaming: false,
  inputTensorFormat: "binary",
  outputTensorFormat: "binary",
  headers: [],
  shapes: {},
  sharedMemory: "none",
  outputSharedMemoryBytes: 102_400,
  parameters: {},
  compression: "none",
  composingModels: [],
  tls: DEFAULT_TLS,
};
