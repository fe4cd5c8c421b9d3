import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { encodeMessage, type ProtoObject } from "../../../src/service/protobuf/message.ts";
import { PREDICT_RESPONSE } from "../../../src/service/tfserving/messages.ts";
import { createPredictChecks } from "../../../src/service/tfserving/response-check.ts";

/** What counts as a response to Predict, whole and in pieces, first seen and when responses like it are known. */

const HEAD = { jsonBytes: 0, isJson: false };
const SHAPE = { dim: [{ size: 1 }, { size: 4 }] };

function answer(value: ProtoObject): Uint8Array {
  return encodeMessage(PREDICT_RESPONSE, { outputs: [{ key: "y", value }], model_spec: { name: "m" } });
}

const floats = (...values: number[]): Uint8Array =>
  answer({ dtype: "DT_FLOAT", tensor_shape: SHAPE, float_val: values });
const integers = (...values: number[]): Uint8Array =>
  answer({ dtype: "DT_INT32", tensor_shape: SHAPE, int_val: values });

/** Judges responses that one slot gets in turn, each whole and in pieces. */
function judge(bodies: readonly Uint8Array[]): (string | undefined)[] {
  const check = createPredictChecks()();
  return bodies.map((body) => {
    const buffer = new Uint8Array(body.length + 20).fill(0x7b);
    buffer.set(body, 10);
    const whole = check.whole(buffer, 10, 10 + body.length, HEAD)?.reason;
    check.begin(HEAD);
    for (let at = 0; at < body.length; at += 5) check.piece(body, at, Math.min(body.length, at + 5));
    assert.equal(check.end()?.reason, whole, "in pieces it is judged otherwise");
    return whole;
  });
}

describe("a response to Predict", () => {
  test("is good with other values, of the same or another length", () => {
    const bodies = [floats(1, 2, 3, 4), floats(5, 6, 7, 8), integers(1, 2, 3, 4), integers(1000, 2, -3, 4)];
    assert.deepEqual(judge(bodies), [undefined, undefined, undefined, undefined]);
  });

  test("is still checked when responses of the same length are known", () => {
    const good = integers(1, 2, 3, 4);
    // The second value becomes longer: the bytes are those of three values, of which the last one counts for the fourth too.
    const three = good.slice();
    three[three.indexOf(2, three.length - 9)] = 0x82;
    assert.deepEqual(judge([good, three]), [undefined, undefined]);
    const more = integers(1, 2, 3, 300);
    const five = answer({ dtype: "DT_INT32", tensor_shape: SHAPE, int_val: [1, 2, 3, 4, 5] });
    assert.equal(five.length, more.length);
    assert.deepEqual(judge([more, five]), [undefined, "output 'y' has 5 values, where shape [1,4] has 4"]);
  });

  for (const [what, body, reason] of [
    ["nothing", new Uint8Array(0), "the message is not a PredictResponse: it has no outputs"],
    [
      "a cut response",
      floats(1, 2, 3, 4).slice(0, 20),
      "the message is not a PredictResponse: protobuf field reaches past its message",
    ],
    ["no tensor", encodeMessage(PREDICT_RESPONSE, { outputs: [{ key: "y" }] }), "output 'y' has no tensor"],
    [
      "a field of another type",
      new Uint8Array([8, 1]),
      "the message is not a PredictResponse: field 1 has wire type 0",
    ],
    ["too many values", floats(1, 2, 3, 4, 5), "output 'y' has 5 values, where shape [1,4] has 4"],
  ] as const)
    test(`${what} is refused`, () => assert.deepEqual(judge([body, body]), [reason, reason]));
});
