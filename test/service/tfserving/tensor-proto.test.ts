import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { encodeMessage, type ProtoObject } from "../../../src/service/protobuf/message.ts";
import type { Datatype, Tensor } from "../../../src/service/tensor.ts";
import { TENSOR } from "../../../src/service/tfserving/messages.ts";
import { readTensor, toTensorProto } from "../../../src/service/tfserving/tensor-proto.ts";
import { RUNS } from "../../fuzz/bounds.ts";
import { outcomeOf } from "../../fuzz/outcome.ts";

/** TensorFlow's tensors: what is sent, and both forms in which servers answer. */

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** The field and the values of each type as a server sends them, and the same as elements. */
const TYPED: readonly (readonly [Datatype, dtype: string, field: string, values: readonly unknown[], Uint8Array])[] = [
  ["FP32", "DT_FLOAT", "float_val", [1.5, -2], bytesOf(new Float32Array([1.5, -2]))],
  ["FP64", "DT_DOUBLE", "double_val", [1e300, -0.1], bytesOf(new Float64Array([1e300, -0.1]))],
  ["INT32", "DT_INT32", "int_val", [-(2 ** 31), 2 ** 31 - 1], bytesOf(new Int32Array([-(2 ** 31), 2 ** 31 - 1]))],
  ["INT16", "DT_INT16", "int_val", [-32768, 32767], bytesOf(new Int16Array([-32768, 32767]))],
  ["INT8", "DT_INT8", "int_val", [-128, 127], bytesOf(new Int8Array([-128, 127]))],
  ["UINT8", "DT_UINT8", "int_val", [0, 255], new Uint8Array([0, 255])],
  ["UINT16", "DT_UINT16", "int_val", [1, 65535], bytesOf(new Uint16Array([1, 65535]))],
  ["UINT32", "DT_UINT32", "uint32_val", [1, 2 ** 32 - 1], bytesOf(new Uint32Array([1, 2 ** 32 - 1]))],
  [
    "INT64",
    "DT_INT64",
    "int64_val",
    [-(2n ** 63n), 2n ** 53n + 1n],
    bytesOf(new BigInt64Array([-(2n ** 63n), 2n ** 53n + 1n])),
  ],
  ["UINT64", "DT_UINT64", "uint64_val", [2n ** 64n - 1n, 1n], bytesOf(new BigUint64Array([2n ** 64n - 1n, 1n]))],
  ["BOOL", "DT_BOOL", "bool_val", [true, false], new Uint8Array([1, 0])],
  ["FP16", "DT_HALF", "half_val", [0x3c00, 0xfc00], bytesOf(new Uint16Array([0x3c00, 0xfc00]))],
  ["BF16", "DT_BFLOAT16", "half_val", [0x3f80, 0xff80], bytesOf(new Uint16Array([0x3f80, 0xff80]))],
  [
    "BYTES",
    "DT_STRING",
    "string_val",
    [new Uint8Array([0xff]), new Uint8Array(0)],
    new Uint8Array([1, 0, 0, 0, 0xff, 0, 0, 0, 0]),
  ],
];

const shaped = (...sizes: number[]): ProtoObject => ({ dim: sizes.map((size) => ({ size })) });
const encode = (proto: ProtoObject): Uint8Array => encodeMessage(TENSOR, proto);

describe("a tensor of TensorFlow", () => {
  for (const [datatype, dtype, field, values, bytes] of TYPED) {
    test(`${dtype} is read from typed values`, () => {
      const message = encode({ dtype, tensor_shape: shaped(1, 2), [field]: values as never });
      assert.deepEqual(readTensor("t", message), { name: "t", datatype, shape: [1, 2], bytes });
    });
    test(`${dtype} comes back as it was sent`, () => {
      const tensor: Tensor = { name: "t", datatype, shape: [2], bytes };
      const proto = toTensorProto(tensor);
      assert.equal("tensor_content" in proto, datatype !== "BYTES");
      assert.deepEqual(readTensor("t", encode(proto)), tensor);
    });
  }

  test("any byte but 0 is sent as a true bool", () => {
    const { tensor_content: content } = toTensorProto({
      name: "t",
      datatype: "BOOL",
      shape: [3],
      bytes: new Uint8Array([0, 1, 0x67]),
    });
    assert.deepEqual(content, new Uint8Array([0, 1, 1]));
  });

  test("a list of values that is too short is completed with its last one", () => {
    const numbers = encode({ dtype: "DT_INT32", tensor_shape: shaped(3), int_val: [7, 8] });
    assert.deepEqual(readTensor("t", numbers)?.bytes, bytesOf(new Int32Array([7, 8, 8])));
    const texts = encode({ dtype: "DT_STRING", tensor_shape: shaped(2), string_val: [new Uint8Array([0x61])] });
    assert.deepEqual(readTensor("t", texts)?.bytes, new Uint8Array([1, 0, 0, 0, 0x61, 1, 0, 0, 0, 0x61]));
  });

  test("values that are not packed are read too", () => {
    // dtype DT_INT32, one dimension of 2, then int_val twice with a tag each.
    const message = new Uint8Array([8, 3, 18, 4, 18, 2, 8, 2, 0x38, 5, 0x38, 6]);
    assert.deepEqual(readTensor("t", message)?.bytes, bytesOf(new Int32Array([5, 6])));
  });

  test("a scalar has one value, and an empty tensor none", () => {
    assert.deepEqual(readTensor("t", encode({ dtype: "DT_FLOAT", tensor_shape: {}, float_val: [1] })), {
      name: "t",
      datatype: "FP32",
      shape: [],
      bytes: bytesOf(new Float32Array([1])),
    });
    assert.deepEqual(readTensor("t", encode({ dtype: "DT_FLOAT", tensor_shape: shaped(0, 4) }))?.bytes.length, 0);
  });

  test("a type that Rampart does not know is left out", () => {
    assert.equal(readTensor("t", encode({ dtype: "DT_COMPLEX64", tensor_shape: shaped(1) })), undefined);
  });

  for (const [what, proto, reason] of [
    [
      "too many values",
      { dtype: "DT_INT32", tensor_shape: shaped(1), int_val: [1, 2] },
      /'t' has 2 values, where shape \[1\] has 1/,
    ],
    ["no values", { dtype: "DT_INT32", tensor_shape: shaped(2) }, /'t' has no values/],
    ["values of another type", { dtype: "DT_INT32", tensor_shape: shaped(1), float_val: [1] }, /'t' has no values/],
    [
      "content of another length",
      { dtype: "DT_INT32", tensor_shape: shaped(2), tensor_content: new Uint8Array(5) },
      /5 bytes of content, where DT_INT32 of shape \[2\] has 8/,
    ],
    ["no type", { tensor_shape: shaped(1), int_val: [1] }, /'t' has no data type/],
    [
      "values for a fraction of a huge shape",
      { dtype: "DT_INT32", tensor_shape: shaped(2 ** 40), int_val: [1] },
      /'t' has 1 value, where shape \[1099511627776\] has 1099511627776/,
    ],
    ["an unknown size", { dtype: "DT_INT32", tensor_shape: shaped(-1), int_val: [1] }, /unknown shape \[-1\]/],
  ] as const satisfies readonly (readonly [string, ProtoObject, RegExp])[])
    test(`${what} are refused`, () => assert.throws(() => readTensor("t", encode(proto)), reason));

  test("arbitrary bytes are a tensor or a ProtocolError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        assert.notEqual(
          outcomeOf(() => readTensor("t", bytes)),
          "crash",
        );
      }),
      RUNS,
    );
  });
});
