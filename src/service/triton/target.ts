import * as v from "valibot";
import { filledSchema, flagSchema, type PlanOf, protocolSchema, wholeSchema } from "../../plan/schema.ts";
import { DEFAULT_TLS } from "../../plan/tls.ts";
import { extractEntries } from "../response-reader.ts";
import type { Wire } from "../service.ts";
import { serverEntries, tensorEntries } from "../target-schemas.ts";
import { parameterSchema } from "./parameters.ts";

/** A Triton server, or another server with the KServe v2 protocol. */
export type TritonTargetPlan = PlanOf<typeof tritonTargetSchema>;

/** A model that the measured model calls. */
export type ComposingModelPlan = TritonTargetPlan["composingModels"][number];

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

export function tritonTargetSchema() {
  const target = v.object({
    kind: v.literal("triton"),
    ...serverEntries(),
    protocol: protocolSchema(),
    ...tritonModelEntries(),
    ...tritonServerEntries(),
    /** Tensors that are binary even if the server does not list binary tensors, because the user chose so. Absent: none. */
    binaryTensors: v.exactOptional(v.array(v.picklist(["input", "output"], "must be input or output"))),
  });
  return v.pipe(
    target,
    v.forward(
      v.check(({ isStreaming, protocol }) => !isStreaming || protocol === "grpc", "is only possible with gRPC"),
      ["isStreaming"],
    ),
    v.forward(
      v.check(
        ({ parameters, protocol }) => protocol === "grpc" || Object.keys(parameters).length === 0,
        "are only possible with gRPC",
      ),
      ["parameters"],
    ),
    v.forward(
      v.check(
        ({ compression, protocol }) => protocol === "grpc" || compression === "none",
        "is only possible with gRPC",
      ),
      ["compression"],
    ),
  );
}

/** Fields of a model on a Triton server, as an object's entries. */
export function tritonServerEntries() {
  const format = v.picklist(["binary", "json"], "must be binary or json");
  const { compression } = tensorEntries();
  return {
    inputTensorFormat: format,
    outputTensorFormat: format,
    /** Place of tensors: in requests and responses, or in memory shared with a server on the same machine. */
    sharedMemory: v.picklist(["none", "system", "cuda"], "must be none, system or cuda"),
    compression,
  };
}

/** Fields of a model on Triton, wherever it runs, as an object's entries. */
export function tritonModelEntries() {
  const { batchSize, shapes } = tensorEntries();
  return {
    /** Empty: the server chooses. */
    modelVersion: v.string("must be text"),
    batchSize,
    /** One bidirectional gRPC stream per lane instead of unary calls. */
    isStreaming: flagSchema(),
    /** Shapes without the batch dimension. */
    shapes,
    /** Size of the shared memory for one item of an output with variable size. */
    outputSharedMemoryBytes: wholeSchema(0),
    /** Extra parameters of every request, by name; gRPC only. */
    parameters: v.record(v.string(), parameterSchema()),
    /**
     * Models that the model calls through business logic scripting (BLS), for their statistics. An ensemble's models are
     * detected.
     */
    composingModels: v.array(
      v.object({
        name: filledSchema("must name a model"),
        /** Empty: the running version. */
        version: v.string(),
      }),
    ),
    ...extractEntries(),
  };
}

/** Returns the protocol of a target's requests. */
export function wireOf(target: Pick<TritonTargetPlan, "protocol" | "isStreaming">): Wire {
  if (target.protocol === "http") return "http";
  return target.isStreaming ? "grpc-stream" : "grpc";
}
