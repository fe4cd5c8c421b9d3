import type { ModelInfo } from "../../src/service/service.ts";
import type { Tensor } from "../../src/service/tensor.ts";
import { pattern } from "./bytes.ts";

/** Triton's models that give their input back. */
export function identityCase(
  name: "identity_bytes" | "identity_fp32",
  bodyBytes: number,
): { info: ModelInfo; tensor: Tensor } {
  const datatype = name === "identity_bytes" ? "BYTES" : "FP32";
  const spec = { datatype, shape: [-1], isOptional: false, isShapeTensor: false } as const;
  const info: ModelInfo = {
    name,
    version: "",
    maxBatchSize: 8,
    inputs: [{ ...spec, name: "INPUT0" }],
    outputs: [{ ...spec, name: "OUTPUT0" }],
  };
  return {
    info,
    tensor: { name: "INPUT0", datatype, ...(datatype === "BYTES" ? oneString(bodyBytes) : floats(bodyBytes)) },
  };
}

function oneString(size: number): { shape: number[]; bytes: Uint8Array } {
  const bytes = new Uint8Array(4 + size);
  new DataView(bytes.buffer).setUint32(0, size, true);
  bytes.set(pattern(size), 4);
  return { shape: [1, 1], bytes };
}

function floats(size: number): { shape: number[]; bytes: Uint8Array } {
  const values = Float32Array.from({ length: size / 4 }, (_, index) => index / 3);
  return { shape: [1, values.length], bytes: new Uint8Array(values.buffer) };
}
