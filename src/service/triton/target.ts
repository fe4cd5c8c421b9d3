import type { RequestParameterPlan, TritonTargetPlan } from "../../plan/plan.ts";
import type { Builders, Schema } from "../../plan/schema.ts";
import { headersSchema, moreUrlsSchema, tlsSchema } from "../target-schemas.ts";
import { isParameterValue, PARAMETER_TYPES } from "./parameters.ts";

/** Returns the schema of a request parameter, including the check of its value. */
function parameterSchema(v: Builders): Schema<RequestParameterPlan> {
  const parameter = v.object({ type: v.picklist(PARAMETER_TYPES, "must be a type of parameters"), value: v.string() });
  return v.pipe(parameter, v.check(isParameterValue, "must be a value of its type"));
}

/** Returns the schema of a Triton target. */
export function tritonTargetSchema(v: Builders): Schema<TritonTargetPlan> {
  const format = v.picklist(["binary", "json"], "must be binary or json");
  const whole = v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more"));
  const target = v.object({
    kind: v.literal("triton"),
    url: v.pipe(v.string(), v.nonEmpty("must name a server")),
    moreUrls: moreUrlsSchema(v),
    protocol: v.picklist(["http", "grpc"], "must be http or grpc"),
    model: v.pipe(v.string(), v.nonEmpty("must name a model")),
    modelVersion: v.string(),
    batchSize: whole,
    isStreaming: v.boolean(),
    inputTensorFormat: format,
    outputTensorFormat: format,
    headers: headersSchema(v),
    shapes: v.record(v.string(), v.array(whole)),
    sharedMemory: v.picklist(["none", "system", "cuda"], "must be none, system or cuda"),
    outputSharedMemoryBytes: v.pipe(
      v.number(),
      v.integer("must be a whole number"),
      v.minValue(0, "must be 0 or more"),
    ),
    parameters: v.record(v.string(), parameterSchema(v)),
    compression: v.picklist(["none", "gzip", "deflate"], "must be none, gzip or deflate"),
    composingModels: v.array(
      v.object({ name: v.pipe(v.string(), v.nonEmpty("must name a model")), version: v.string() }),
    ),
    tls: tlsSchema(v),
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
