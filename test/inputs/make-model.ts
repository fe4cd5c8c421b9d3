import type { ModelInfo } from "../../src/service/service.ts";
import type { Datatype, TensorSpec } from "../../src/service/tensor.ts";

/** Models for tests. */

/** An input or output. */
export function spec(
  name: string,
  datatype: Datatype,
  shape: readonly number[],
  change: Partial<TensorSpec> = {},
): TensorSpec {
  return { name, datatype, shape, isOptional: false, isShapeTensor: false, ...change };
}

/** A model with a batch dimension. */
export function makeModel(
  inputs: readonly TensorSpec[],
  outputs: readonly TensorSpec[] = [],
  change: Partial<ModelInfo> = {},
): ModelInfo {
  return { name: "model", version: "", maxBatchSize: 8, inputs, outputs, ...change };
}
