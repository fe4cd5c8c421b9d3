import type { ModelInfo } from "./service.ts";
import { elementBytes, type Tensor } from "./tensor.ts";

/** Size of an empty element of BYTES, which is its length field. */
const EMPTY_TEXT_BYTES = 4;

/** Returns the outputs of a model with one element each, for a sample response. */
export function sampleOutputs({ outputs, maxBatchSize }: ModelInfo): Tensor[] {
  return outputs.map(({ name, datatype, shape }) => ({
    name,
    datatype,
    shape: Array<number>(shape.length + (maxBatchSize > 0 ? 1 : 0)).fill(1),
    bytes: new Uint8Array(datatype === "BYTES" ? EMPTY_TEXT_BYTES : elementBytes(datatype)),
  }));
}
