import type { ModelInfo } from "../../src/service/service.ts";
import type { Tensor } from "../../src/service/tensor.ts";
import { createGrpcCodec, readStreamed } from "../../src/service/triton/grpc-codec.ts";
import { createHttpCodec } from "../../src/service/triton/http-codec.ts";

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

/** Reads the messages of a stream of the model. */
export { readStreamed };

/** Returns the codec of a model over HTTP, by default of `simple` with binary tensors. */
export function httpCodec(
  model = simpleModel,
  format: "binary" | "json" = "binary",
): ReturnType<typeof createHttpCodec> {
  return createHttpCodec(model, { inputFormat: format, outputFormat: format });
}

/** Returns the codec of a model over gRPC, by default of `simple`. */
export function grpcCodec(isStreaming: boolean, model = simpleModel): ReturnType<typeof createGrpcCodec> {
  return createGrpcCodec(model, { isStreaming });
}

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
