import * as v from "valibot";
import { ProtocolError } from "../../transport/failure.ts";
import type { ModelInfo } from "../service.ts";
import { isDatatype, type TensorSpec } from "../tensor.ts";

/** A Triton model: what its metadata and its configuration say together. */

/** How the server schedules requests to the model. */
export type SchedulerKind = "none" | "dynamic" | "sequence" | "ensemble" | "ensemble-sequence";

/** A model on a Triton server. */
export interface TritonModel extends ModelInfo {
  readonly kind: "triton";
  readonly scheduler: SchedulerKind;
  /** True when one request may have any number of responses. */
  readonly isDecoupled: boolean;
  readonly isResponseCacheEnabled: boolean;
}

const tensorMetadataSchema = v.object({ name: v.string(), datatype: v.string(), shape: v.optional(v.array(v.number()), []) });

const metadataSchema = v.object({
  name: v.string(),
  versions: v.optional(v.array(v.string()), []),
  inputs: v.optional(v.array(tensorMetadataSchema), []),
  outputs: v.optional(v.array(tensorMetadataSchema), []),
});

const tensorConfigSchema = v.object({
  name: v.string(),
  optional: v.optional(v.boolean(), false),
  is_shape_tensor: v.optional(v.boolean(), false),
});

const configSchema = v.object({
  max_batch_size: v.optional(v.number(), 0),
  input: v.optional(v.array(tensorConfigSchema), []),
  output: v.optional(v.array(tensorConfigSchema), []),
  model_transaction_policy: v.optional(v.object({ decoupled: v.optional(v.boolean(), false) })),
  response_cache: v.optional(v.object({ enable: v.optional(v.boolean(), false) })),
  dynamic_batching: v.optional(v.unknown()),
  sequence_batching: v.optional(v.unknown()),
  ensemble_scheduling: v.optional(v.object({ step: v.optional(v.array(v.unknown()), []) })),
});

type TensorMetadata = v.InferOutput<typeof tensorMetadataSchema>;
type TensorConfig = v.InferOutput<typeof tensorConfigSchema>;
type Config = v.InferOutput<typeof configSchema>;

/**
 * Joins metadata and configuration, both as the server's JSON (or the same fields decoded from gRPC).
 * @param version the version asked for; empty for the server's choice
 * @throws ProtocolError when they are not what the protocol says
 */
export function readModel(metadata: unknown, config: unknown, version: string): TritonModel {
  const meta = check(metadataSchema, metadata, "model metadata");
  const conf = check(configSchema, config, "model configuration");
  const maxBatchSize = conf.max_batch_size;
  return {
    kind: "triton",
    name: meta.name,
    version,
    maxBatchSize,
    inputs: readTensors(meta.inputs, conf.input, maxBatchSize > 0),
    outputs: readTensors(meta.outputs, conf.output, maxBatchSize > 0),
    scheduler: schedulerOf(conf),
    isDecoupled: conf.model_transaction_policy?.decoupled ?? false,
    isResponseCacheEnabled: conf.response_cache?.enable ?? false,
  };
}

/** Checks outside data against a schema. Throws {@link ProtocolError} naming the path that does not fit. */
export function check<T>(schema: v.GenericSchema<unknown, T>, data: unknown, what: string): T {
  const result = v.safeParse(schema, data);
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = issue.path?.map((item) => String(item.key)).join(".") ?? "";
  throw new ProtocolError(`${what} has an unexpected form at '${path}': ${issue.message}`);
}

function readTensors(metadata: readonly TensorMetadata[], config: readonly TensorConfig[], isBatched: boolean): TensorSpec[] {
  return metadata
    .map((tensor): TensorSpec => {
      if (!isDatatype(tensor.datatype)) throw new ProtocolError(`tensor '${tensor.name}' has the unknown datatype '${tensor.datatype}'`);
      const details = config.find((entry) => entry.name === tensor.name);
      return {
        name: tensor.name,
        datatype: tensor.datatype,
        shape: isBatched ? tensor.shape.slice(1) : tensor.shape,
        isOptional: details?.optional ?? false,
        isShapeTensor: details?.is_shape_tensor ?? false,
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function schedulerOf(config: Config): SchedulerKind {
  if (config.ensemble_scheduling !== undefined && config.ensemble_scheduling.step.length > 0) {
    return config.sequence_batching === undefined ? "ensemble" : "ensemble-sequence";
  }
  if (config.sequence_batching !== undefined) return "sequence";
  return config.dynamic_batching === undefined ? "none" : "dynamic";
}
