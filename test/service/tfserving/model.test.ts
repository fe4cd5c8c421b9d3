import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import type { RunError } from "../../../src/plan/problem.ts";
import { decodeMessage, encodeMessage, type ProtoObject } from "../../../src/service/protobuf/message.ts";
import { createPredictCodec } from "../../../src/service/tfserving/codec.ts";
import { METADATA_RESPONSE, PREDICT_REQUEST } from "../../../src/service/tfserving/messages.ts";
import { readModel } from "../../../src/service/tfserving/model.ts";
import { DEFAULT_TF_SERVING_TARGET, type TfServingTargetPlan } from "../../../src/service/tfserving/target.ts";

/** A model's signatures, and the requests that follow from a target. */

const target = (change: Partial<TfServingTargetPlan> = {}): TfServingTargetPlan => ({
  ...DEFAULT_TF_SERVING_TARGET,
  url: "h:8500",
  model: "m",
  ...change,
});

function info(key: string, dtype: string, shape: readonly number[] | undefined): ProtoObject {
  const tensor_shape = shape === undefined ? { unknown_rank: true } : { dim: shape.map((size) => ({ size })) };
  return { key, value: { name: `${key}:0`, dtype, tensor_shape } };
}

const SIGNATURES = {
  serving_default: {
    inputs: [info("b", "DT_STRING", [-1]), info("a", "DT_FLOAT", [-1, 3])],
    outputs: [info("y", "DT_INT64", [-1, 2]), info("spectrum", "DT_COMPLEX64", [-1])],
  },
  fixed: { inputs: [info("a", "DT_FLOAT", [1, 3])], outputs: [info("y", "DT_FLOAT", [1])] },
  any: { inputs: [info("a", "DT_FLOAT", undefined)], outputs: [info("y", "DT_FLOAT", undefined)] },
  complex: { inputs: [info("a", "DT_COMPLEX64", [-1])], outputs: [info("y", "DT_FLOAT", [1])] },
};

const METADATA = decodeMessage(
  METADATA_RESPONSE,
  encodeMessage(METADATA_RESPONSE, {
    metadata: [
      {
        key: "signature_def",
        value: {
          type_url: "t",
          value: { signature_def: Object.entries(SIGNATURES).map(([key, value]) => ({ key, value })) },
        },
      },
    ],
  }),
);

const REST = { isOptional: false, isShapeTensor: false };

describe("a model's signature", () => {
  test("has whole shapes without batches, sorted by name; outputs of other types are left out", () => {
    assert.deepEqual(readModel(METADATA, target()), {
      name: "m",
      version: "",
      maxBatchSize: 0,
      inputs: [
        { name: "a", datatype: "FP32", shape: [-1, 3], ...REST },
        { name: "b", datatype: "BYTES", shape: [-1], ...REST },
      ],
      outputs: [{ name: "y", datatype: "INT64", shape: [-1, 2], ...REST }],
    });
  });

  test("has the shapes of one item with batches", () => {
    const { maxBatchSize, inputs, outputs } = readModel(METADATA, target({ batchSize: 4 }));
    assert.equal(maxBatchSize, 4);
    assert.deepEqual(
      [...inputs, ...outputs].map(({ shape }) => shape),
      [[3], [], [2]],
    );
  });

  test("takes the user's shape for an input of unknown rank", () => {
    const { inputs } = readModel(METADATA, target({ signatureName: "any", shapes: { a: [2, 2, 2] } }));
    assert.deepEqual(inputs[0]?.shape, [2, 2, 2]);
  });

  for (const [what, change, message, hint] of [
    [
      "a signature that does not exist",
      { signatureName: "nope" },
      /signature_name "nope"/,
      /any, complex, fixed, serving_default/,
    ],
    ["an output that does not exist", { outputNames: ["y", "z"] }, /no output 'z'/, /spectrum, y/],
    [
      "batches of a fixed size",
      { signatureName: "fixed", batchSize: 2 },
      /'a' has the shape \[1,3\]/,
      /batch size of 1/,
    ],
    [
      "batches of an unknown rank",
      { signatureName: "any", batchSize: 2 },
      /'a' has an unknown rank/,
      /batch size of 1/,
    ],
    ["an input of another type", { signatureName: "complex" }, /'a' has the type DT_COMPLEX64/, /DT_FLOAT/],
  ] as const)
    test(`${what} is refused with what there is`, () => {
      assert.throws(
        () => readModel(METADATA, target(change)),
        (error: RunError) => message.test(error.message) && hint.test(word(error.hint)),
      );
    });
});

describe("a request", () => {
  const specOf = (change: Partial<TfServingTargetPlan>): ProtoObject => {
    const { path, payload, stampPlace } = createPredictCodec(target(change), readModel(METADATA, target())).encode(
      [],
      8,
    );
    assert.equal(path, "/tensorflow.serving.PredictionService/Predict");
    assert.equal(stampPlace, undefined);
    return decodeMessage(PREDICT_REQUEST, payload);
  };

  for (const [version, expected] of [
    ["", {}],
    ["3", { version: { value: 3 } }],
    ["canary", { version_label: "canary" }],
    ["1.5", { version_label: "1.5" }],
  ] as const)
    test(`asks for the version '${version}'`, () => {
      assert.deepEqual(specOf({ modelVersion: version })["model_spec"], {
        name: "m",
        signature_name: "serving_default",
        ...expected,
      });
    });

  test("names the wanted outputs and the signature", () => {
    const request = specOf({ outputNames: ["y"], signatureName: "s" });
    assert.deepEqual(request["output_filter"], ["y"]);
    assert.equal((request["model_spec"] as ProtoObject)["signature_name"], "s");
  });
});
