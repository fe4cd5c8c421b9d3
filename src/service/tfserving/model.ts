import { RunError } from "../../plan/problem.ts";
import { shorten } from "../../plan/show-value.ts";
import { ResponseObject } from "../response.ts";
import type { ModelInfo } from "../service.ts";
import type { TensorSpec } from "../tensor.ts";
import { TF_TYPE_NAMES, tfTypeNamed } from "./data-types.ts";
import type { TfServingTargetPlan } from "./target.ts";

const WHAT = "model metadata";

/**
 * Reads one signature of a model as its inputs and outputs. Like in perf_analyzer, the first dimension of all inputs is the batch if the
 * batch size is 2 or more; otherwise the model counts as one without batches, and shapes include all dimensions.
 * @param metadata the decoded response to `GetModelMetadata`
 * @throws RunError for an unknown signature, output or type, and for inputs without a batch dimension
 */
export function readModel(metadata: unknown, target: TfServingTargetPlan): ModelInfo {
  const { model, modelVersion, batchSize, shapes, outputNames } = target;
  const signature = findSignature(metadata, target);
  const isBatched = batchSize > 1;
  const inputs: TensorSpec[] = [];
  for (const entry of signature.objects("inputs")) {
    const input = readTensorInfo(entry);
    if (input.datatype === undefined) throw unsupportedType(input);
    if (isBatched) checkBatchable(input);
    const { name, datatype, shape } = input;
    inputs.push({ ...PLAIN, name, datatype, shape: isBatched ? shape.slice(1) : shapeOf(input, shapes) });
  }
  const outputs: TensorSpec[] = [];
  const names: string[] = [];
  for (const entry of signature.objects("outputs")) {
    const { name, datatype, shape } = readTensorInfo(entry);
    names.push(name);
    if (outputNames.length > 0 && !outputNames.includes(name)) continue;
    // An output of another type is received and counted, but not decoded.
    if (datatype === undefined) continue;
    outputs.push({ ...PLAIN, name, datatype, shape: isBatched ? shape.slice(1) : shape });
  }
  for (const name of outputNames) if (!names.includes(name)) throw unknownOutput(name, names, target);
  return {
    name: model,
    version: modelVersion,
    maxBatchSize: isBatched ? batchSize : 0,
    inputs: inputs.sort(byName),
    outputs: outputs.sort(byName),
  };
}

const PLAIN = { isOptional: false, isShapeTensor: false } as const;

function byName(a: TensorSpec, b: TensorSpec): number {
  return a.name < b.name ? -1 : 1;
}

/** Finds the wanted signature. An error names the existing ones. */
function findSignature(metadata: unknown, { model, signatureName }: TfServingTargetPlan): ResponseObject {
  const names: string[] = [];
  for (const field of ResponseObject.of(metadata, WHAT).objects("metadata")) {
    for (const entry of field.object("value").object("value").objects("signature_def")) {
      const name = entry.has("key") ? entry.string("key") : "";
      if (name === signatureName) return entry.object("value");
      // The initialisation operation of a saved model cannot be called.
      if (name !== "__saved_model_init_op") names.push(name);
    }
  }
  const message = `failed to create model parser: Failed to find signature_name "${signatureName}" in the metadata`;
  if (names.length === 0) throw new RunError("unsupported", message, `Model '${model}' has no signatures.`);
  throw new RunError("unsupported", message, { say: "give-signature", model, signatures: names.sort().join(", ") });
}

/** A tensor of a signature. */
interface TensorInfo {
  readonly name: string;
  readonly typeName: string;
  /** Undefined for a type that Rampart cannot send. */
  readonly datatype: TensorSpec["datatype"] | undefined;
  /** All dimensions; one variable dimension when the rank is unknown. */
  readonly shape: readonly number[];
  readonly isRankUnknown: boolean;
}

function readTensorInfo(entry: ResponseObject): TensorInfo {
  const info = entry.object("value");
  const typeName = info.has("dtype") ? info.string("dtype") : "DT_INVALID";
  const shape = info.object("tensor_shape");
  const isRankUnknown = shape.boolean("unknown_rank");
  const sizes: number[] = [];
  for (const dim of shape.objects("dim")) sizes.push(dim.integer("size", -1));
  return {
    name: entry.has("key") ? entry.string("key") : "",
    typeName,
    datatype: tfTypeNamed(typeName)?.datatype,
    shape: isRankUnknown ? [-1] : sizes,
    isRankUnknown,
  };
}

/** An input of unknown rank uses the user's shape unchanged. */
function shapeOf({ name, shape, isRankUnknown }: TensorInfo, shapes: TfServingTargetPlan["shapes"]): readonly number[] {
  return isRankUnknown && Object.hasOwn(shapes, name) ? (shapes[name] ?? shape) : shape;
}

function checkBatchable({ name, shape, isRankUnknown }: TensorInfo): void {
  if (!isRankUnknown && shape[0] === -1) return;
  const found = isRankUnknown ? "an unknown rank" : `the shape [${shape.join(",")}]`;
  const message = `can not specify batch size > 1: input '${shorten(name)}' has ${found}, where batches need -1 as the first dimension`;
  throw new RunError("unsupported", message, "Use a batch size of 1.");
}

function unsupportedType({ name, typeName }: TensorInfo): RunError {
  return new RunError(
    "unsupported",
    `input '${shorten(name)}' has the type ${typeName}, which cannot be sent`,
    `Use a signature whose inputs have the types ${TF_TYPE_NAMES.join(", ")}.`,
  );
}

function unknownOutput(name: string, names: readonly string[], { signatureName }: TfServingTargetPlan): RunError {
  return new RunError(
    "unsupported",
    `signature '${signatureName}' has no output '${shorten(name)}'`,
    `Its outputs are ${[...names].sort().join(", ")}.`,
  );
}
