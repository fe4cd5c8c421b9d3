import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { InferCodec } from "../../src/service/content.ts";
import { encodeMessage, type ProtoObject } from "../../src/service/protobuf/message.ts";
import type { ModelInfo } from "../../src/service/service.ts";
import { createPredictCodec } from "../../src/service/tfserving/codec.ts";
import { PREDICT_RESPONSE } from "../../src/service/tfserving/messages.ts";
import type { TfServingTargetPlan } from "../../src/service/tfserving/target.ts";
import { createGrpcCodec } from "../../src/service/triton/grpc-codec.ts";
import { createHttpCodec } from "../../src/service/triton/http-codec.ts";
import { INFER_RESPONSE } from "../../src/service/triton/messages.ts";
import type { ResponseHead } from "../../src/transport/response-check.ts";

/** A response that is valid in itself, but is not what was asked for, is no success. */

const MODEL: ModelInfo = {
  ...{ name: "m", version: "", maxBatchSize: 0, inputs: [] },
  outputs: ["A", "B"].map((name) => ({
    ...{ name, datatype: "INT32" as const, shape: [2], isShapeTensor: false, isOptional: false },
  })),
};

/** What a response says. */
interface Answer {
  readonly model?: string;
  readonly outputs?: readonly (readonly [name: string, datatype: string])[];
  readonly data?: readonly unknown[];
}

const BOTH = [
  ["A", "INT32"],
  ["B", "INT32"],
] as const;

function json({ model = "m", outputs = BOTH, data = [1, 2] }: Answer): Uint8Array {
  const listed = outputs.map(([name, datatype]) => ({ name, datatype, shape: [2], data }));
  return new TextEncoder().encode(JSON.stringify({ model_name: model, outputs: listed }));
}

function infer({ model = "m", outputs = BOTH }: Answer): Uint8Array {
  const listed = outputs.map(([name, datatype]): ProtoObject => ({ name, datatype, shape: [2] }));
  const contents = outputs.map(() => new Uint8Array(8));
  return encodeMessage(INFER_RESPONSE, { model_name: model, outputs: listed, raw_output_contents: contents });
}

function predict({ model = "m", outputs = BOTH }: Answer): Uint8Array {
  const shape = { dim: [{ size: 2 }] };
  const tensor = (datatype: string): ProtoObject => ({
    ...{ dtype: datatype === "FP32" ? "DT_FLOAT" : "DT_INT32", tensor_shape: shape, tensor_content: new Uint8Array(8) },
  });
  const listed = outputs.map(([key, datatype]) => ({ key, value: tensor(datatype) }));
  return encodeMessage(PREDICT_RESPONSE, { outputs: listed, model_spec: { name: model } });
}

const predictTarget = { model: "m", modelVersion: "", outputNames: [] } as unknown as TfServingTargetPlan;
const KINDS: readonly (readonly [kind: string, codec: InferCodec<never>, encode: (answer: Answer) => Uint8Array])[] = [
  ["KServe over HTTP", createHttpCodec(MODEL, { inputFormat: "json", outputFormat: "json" }), json],
  ["KServe over gRPC, and Triton in process", createGrpcCodec(MODEL, { isStreaming: false }), infer],
  ["TensorFlow Serving", createPredictCodec(predictTarget, MODEL), predict],
];
const HEAD: ResponseHead = { jsonBytes: 0, isJson: true };

/** What is wrong with responses that one slot gets in turn. */
function judge(
  codec: InferCodec<never>,
  bodies: readonly Uint8Array[],
  acceptsOthers?: boolean,
): (string | undefined)[] {
  const check = codec.responseChecks(acceptsOthers)();
  return bodies.map((body) => check.whole(body, 0, body.length, HEAD)?.reason);
}

const WRONG: readonly (readonly [what: string, answer: Answer, reason: string])[] = [
  ["of another model", { model: "x" }, "the response is from model 'x', not from 'm'"],
  [
    "with another output",
    {
      outputs: [
        ["A", "INT32"],
        ["C", "INT32"],
      ],
    },
    "the response has the output 'C', which was not asked for",
  ],
  ["without one of the outputs", { outputs: [["A", "INT32"]] }, "the response has no output 'B'"],
  [
    "with another datatype",
    {
      outputs: [
        ["A", "INT32"],
        ["B", "FP32"],
      ],
    },
    "output 'B' has datatype FP32, not INT32",
  ],
];

for (const [kind, codec, encode] of KINDS)
  describe(kind, () => {
    for (const [what, answer, reason] of WRONG)
      test(`a response ${what} is wrong, before and after good ones`, () => {
        const bodies = [answer, {}, {}, answer].map(encode);
        assert.deepEqual(judge(codec, bodies), [reason, undefined, undefined, reason]);
        assert.deepEqual(judge(codec, bodies, true), [undefined, undefined, undefined, undefined]);
      });
    test("a response without outputs is wrong", () => {
      assert.notEqual(judge(codec, [encode({ outputs: [] })])[0], undefined);
    });
  });

test("a response of a stream may have some of the outputs, but no other ones", () => {
  const codec = createGrpcCodec(MODEL, { isStreaming: true });
  const [other, , , another] = WRONG.slice(1).map(([, answer]) => infer(answer));
  assert.notEqual(judge(codec, [other as Uint8Array])[0], undefined);
  assert.equal(another, undefined);
  assert.deepEqual(judge(codec, [infer({ outputs: [["A", "INT32"]] }), infer({ outputs: [] })]), [
    undefined,
    undefined,
  ]);
});

describe("data in JSON", () => {
  const codecOf = (datatype: "INT32" | "FP32" | "BYTES" | "BOOL"): InferCodec<never> =>
    createHttpCodec(
      { ...MODEL, outputs: MODEL.outputs.slice(0, 1).map((output) => ({ ...output, datatype })) },
      { inputFormat: "json", outputFormat: "json" },
    );
  for (const [datatype, data, reason] of [
    ["INT32", [1, "2"], "output 'A' has text in its data, which is not INT32"],
    ["INT32", [1, 2.5], "output 'A' has 2.5 in its data, which is not INT32"],
    ["INT32", [1, null], "output 'A' has null in its data, which is not INT32"],
    ["INT32", [1, -2], undefined],
    ["FP32", [1.5, "two"], "output 'A' has text in its data, which is not FP32"],
    ["FP32", [null, "NaN"], undefined],
    ["BYTES", ["a", 1], "output 'A' has 1 in its data, which is not BYTES"],
    ["BYTES", ["a", "b"], undefined],
    ["BOOL", [true, 0], undefined],
    ["BOOL", [true, "false"], "output 'A' has text in its data, which is not BOOL"],
  ] as const)
    test(`${JSON.stringify(data)} of ${datatype} is ${reason === undefined ? "good" : "wrong"}`, () => {
      const body = json({ outputs: [["A", datatype]], data });
      assert.deepEqual(judge(codecOf(datatype), [body]), [reason]);
    });

  test("is decoded again now and then when responses like it are known", () => {
    const codec = codecOf("INT32");
    const good = (seed: number): Uint8Array => json({ outputs: [["A", "INT32"]], data: [seed, -seed] });
    const bad = json({ outputs: [["A", "INT32"]], data: ["no", "numbers"] });
    // Good responses of all lengths and digits make the form known.
    const learned = Array.from({ length: 200 }, (_, index) => good(index * 7919));
    const found = judge(codec, [...learned, ...Array.from({ length: 200 }, () => bad)]);
    assert.deepEqual(new Set(found.slice(0, 200)), new Set([undefined]));
    const failed = found.slice(200).filter((reason) => reason !== undefined).length;
    assert.ok(failed >= 3, `${failed} of 200`);
  });
});
