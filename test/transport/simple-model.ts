import type { ModelInfo } from "../../src/service/service.ts";
import type { Tensor } from "../../src/service/tensor.ts";

/** The model `simple` of Triton's examples, which every server of the tests has: sum and difference of two INT32[16]. */

const spec = { datatype: "INT32", shape: [16], isOptional: false, isShapeTensor: false } as const;

export const simpleModel: ModelInfo = {
  name: "simple",
  version: "",
  maxBatchSize: 8,
  inputs: [
    { ...spec, name: "INPUT0" },
    { ...spec, name: "INPUT1" },
  ],
  outputs: [
    { ...spec, name: "OUTPUT0" },
    { ...spec, name: "OUTPUT1" },
  ],
};

/** 0, 1 … 15 and sixteen times `second`. */
export function simpleTensors(second = 1): Tensor[] {
  const first = Int32Array.from({ length: 16 }, (_, index) => index);
  return [
    { name: "INPUT0", datatype: "INT32", shape: [1, 16], bytes: new Uint8Array(first.buffer) },
    {
      name: "INPUT1",
      datatype: "INT32",
      shape: [1, 16],
      bytes: new Uint8Array(new Int32Array(16).fill(second).buffer),
    },
  ];
}

/** A tensor's elements as numbers. */
export function toInt32(bytes: Uint8Array | undefined): number[] {
  return [...new Int32Array((bytes ?? new Uint8Array(0)).slice().buffer)];
}
