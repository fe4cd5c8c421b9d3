import * as v from "valibot";
import { filledSchema, type PlanOf } from "../../plan/schema.ts";
import { DEFAULT_TLS } from "../../plan/tls.ts";
import { neverStreams, serverEntries, tensorEntries } from "../target-schemas.ts";

/** A TensorFlow Serving server, or another server with its PredictionService, over gRPC. */
export type TfServingTargetPlan = PlanOf<typeof tfServingTargetSchema>;

/** A TensorFlow Serving target with perf_analyzer's defaults. */
export const DEFAULT_TF_SERVING_TARGET: Omit<TfServingTargetPlan, "url" | "model"> = {
  kind: "tfserving",
  protocol: "grpc",
  isStreaming: false,
  modelVersion: "",
  signatureName: "serving_default",
  batchSize: 1,
  headers: [],
  shapes: {},
  outputNames: [],
  compression: "none",
  tls: DEFAULT_TLS,
};

/** Returns the schema of a TensorFlow Serving target. */
export function tfServingTargetSchema() {
  return v.object({
    kind: v.literal("tfserving"),
    ...serverEntries(),
    protocol: v.literal("grpc", "must be grpc"),
    isStreaming: neverStreams("must be false: TensorFlow Serving has no streams"),
    /** A number is a version, any other text is a version label. Empty: the server chooses. */
    modelVersion: v.string(),
    signatureName: filledSchema("must name a signature"),
    /**
     * With a `batchSize` of 2 or more, the first dimension of every tensor is the batch, and a shape is that of one item. Otherwise a shape
     * includes all dimensions.
     */
    ...tensorEntries(),
    /** Names of the requested outputs. Empty: all outputs of the signature. */
    outputNames: v.array(filledSchema("must name an output")),
  });
}
