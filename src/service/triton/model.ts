import { shorten } from "../../plan/show-value.ts";
import { badResponse, ResponseObject } from "../response.ts";
import type { ModelInfo } from "../service.ts";
import { DATATYPES, isDatatype, type TensorSpec } from "../tensor.ts";

/** The server's scheduling of requests to the model. */
export type SchedulerKind = "none" | "dynamic" | "sequence" | "ensemble" | "ensemble-sequence";

/** A codec's view of a model. */
export interface CodecModel extends ModelInfo {
  /** Whether sequence ids are texts. Absent: they are numbers. */
  readonly hasTextSequenceIds?: boolean;
}

/** A model on a Triton server, from its metadata and configuration. */
export interface TritonModel extends CodecModel {
  readonly kind: "triton";
  readonly scheduler: SchedulerKind;
  /** Whether a request may have any number of responses. */
  readonly isDecoupled: boolean;
  readonly isResponseCacheEnabled: boolean;
}

/**
 * Combines metadata and configuration, as JSON or decoded from gRPC.
 * @param version the requested version; empty: the server chooses
 * @throws RunError if they violate the protocol
 */
export function readModel(metadata: unknown, config: unknown, version: string): TritonModel {
  const meta = ResponseObject.of(metadata, "model metadata");
  const conf = ResponseObject.of(config, "model configuration");
  const maxBatchSize = conf.integer("max_batch_size", 0);
  return {
    kind: "triton",
    name: meta.string("name"),
    version,
    maxBatchSize,
    inputs: readTensors(meta.objects("inputs"), conf.objects("input"), maxBatchSize > 0),
    outputs: readTensors(meta.objects("outputs"), conf.objects("output"), maxBatchSize > 0),
    scheduler: schedulerOf(conf),
    isDecoupled: conf.object("model_transaction_policy").boolean("decoupled"),
    isResponseCacheEnabled: conf.object("response_cache").boolean("enable"),
    ...(hasTextSequenceIds(conf) ? { hasTextSequenceIds: true } : {}),
  };
}

/** Whether a model's configuration requires sequence ids that are texts. */
export function hasTextSequenceIds(config: ResponseObject): boolean {
  const controls = config.object("sequence_batching").objects("control_input");
  return controls.some((input) =>
    input.objects("control").some(
      (control) =>
        // gRPC omits zeros, which are other values than the tested ones.
        ["kind", "data_type"].every((name) => control.has(name)) &&
        control.string("kind") === "CONTROL_SEQUENCE_CORRID" &&
        control.string("data_type") === "TYPE_STRING",
    ),
  );
}

function readTensors(
  metadata: readonly ResponseObject[],
  config: readonly ResponseObject[],
  isBatched: boolean,
): TensorSpec[] {
  const tensors: TensorSpec[] = [];
  for (const tensor of metadata) {
    const name = tensor.string("name");
    const datatype = tensor.string("datatype");
    if (!isDatatype(datatype))
      throw badResponse(
        `model metadata: tensor '${shorten(name)}' has the unknown datatype '${shorten(datatype)}', expected ${DATATYPES.join(", ")}`,
      );
    for (const other of tensors)
      if (other.name === name) throw badResponse(`model metadata: there are two tensors called '${shorten(name)}'`);
    const details = findNamed(config, name);
    const shape = tensor.integers("shape", -1);
    tensors.push({
      name,
      datatype,
      shape: isBatched ? shape.slice(1) : shape,
      isOptional: details?.boolean("optional") ?? false,
      isShapeTensor: details?.boolean("is_shape_tensor") ?? false,
    });
  }
  return tensors.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function findNamed(entries: readonly ResponseObject[], name: string): ResponseObject | undefined {
  for (const entry of entries) if (entry.string("name") === name) return entry;
  return undefined;
}

/** Whether the model's requests belong to sequences. */
export function hasSequences({ scheduler }: Pick<TritonModel, "scheduler">): boolean {
  return scheduler === "sequence" || scheduler === "ensemble-sequence";
}

function schedulerOf(config: ResponseObject): SchedulerKind {
  if (config.object("ensemble_scheduling").objects("step").length > 0) {
    return config.has("sequence_batching") ? "ensemble-sequence" : "ensemble";
  }
  if (config.has("sequence_batching")) return "sequence";
  return config.has("dynamic_batching") ? "dynamic" : "none";
}
