import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeMessage, MessageSpec, message } from "../../../src/service/protobuf/message.ts";
import { modelPath } from "../../../src/service/triton/http-codec.ts";
import * as messages from "../../../src/service/triton/messages.ts";
import {
  isParameterValue,
  type RequestParameterPlan,
  toInferParameter,
} from "../../../src/service/triton/parameters.ts";

const INFER_PARAMETER = message(() => ({ int64_param: [2, "int64"], uint64_param: [5, "uint64"] }));

const cases: readonly (readonly [
  type: RequestParameterPlan["type"],
  good: readonly string[],
  bad: readonly string[],
])[] = [
  ["bool", ["true", "false"], ["", "1", "TRUE", "yes"]],
  [
    "int",
    ["0", "-1", "9223372036854775807", "-9223372036854775808"],
    ["", "1.5", "1e3", "0x10", " 1", "9223372036854775808", "-9223372036854775809"],
  ],
  ["uint", ["0", "18446744073709551615"], ["", "-1", "1.5", "18446744073709551616"]],
  ["double", ["0", "-1.5", "1e-9"], ["", " ", "x", "Infinity", "NaN", "1,5"]],
  ["string", ["", "any text"], []],
];

for (const [type, good, bad] of cases) {
  test(`valid values of type ${type}`, () => {
    for (const value of good) assert.equal(isParameterValue({ type, value }), true, value);
    for (const value of bad) assert.equal(isParameterValue({ type, value }), false, value);
  });
}

test("whole numbers keep all their 64 bits on the wire", () => {
  const encode = (type: "int" | "uint", value: string): number[] => [
    ...encodeMessage(INFER_PARAMETER, toInferParameter({ type, value })),
  ];
  const ones = (count: number): number[] => new Array(count).fill(0xff);
  assert.deepEqual(encode("int", "9223372036854775807"), [0x10, ...ones(8), 0x7f]);
  assert.deepEqual(encode("int", "-9223372036854775808"), [0x10, ...new Array(9).fill(0x80), 0x01]);
  assert.deepEqual(encode("int", "-1"), [0x10, ...ones(9), 0x01]);
  assert.deepEqual(encode("uint", "18446744073709551615"), [0x28, ...ones(9), 0x01]);
  assert.deepEqual(encode("uint", "9223372036854775808"), [0x28, ...new Array(9).fill(0x80), 0x01]);
});

test("an unsigned number is an int64 as long as it fits, which every Triton takes", () => {
  assert.deepEqual(toInferParameter({ type: "uint", value: "256" }), { int64_param: 256n });
  assert.deepEqual(toInferParameter({ type: "uint", value: "9223372036854775807" }), { int64_param: 2n ** 63n - 1n });
  assert.deepEqual(toInferParameter({ type: "uint", value: "9223372036854775808" }), { uint64_param: 2n ** 63n });
});

/** Triton takes names from the path as they stand there, so only what cannot stand in one is encoded. */
for (const [name, version, path] of [
  ["simple", "", "/v2/models/simple"],
  ["simple", "1", "/v2/models/simple/versions/1"],
  ["=a+b@c:d,e&f$g;h", "v+1", "/v2/models/=a+b@c:d,e&f$g;h/versions/v+1"],
  ["a b/ü?#%", "", "/v2/models/a%20b%2F%C3%BC%3F%23%25"],
] as const) {
  test(`the path of model '${name}' version '${version}'`, () => {
    assert.equal(modelPath({ name, version }, ""), path);
  });
}

test("every message has its fields in ascending order, in which they are encoded and printed", () => {
  const seen = new Set<MessageSpec>();
  const visit = (spec: MessageSpec): void => {
    if (seen.has(spec)) return;
    seen.add(spec);
    const numbers = spec.inOrder.map(({ number }) => number);
    const names = spec.inOrder.map(({ name }) => name).join(" ");
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
      names,
    );
    for (const { type } of spec.inOrder) if (type instanceof MessageSpec) visit(type);
  };
  for (const spec of Object.values(messages)) visit(spec);
  assert.ok(seen.size > 40, `${seen.size} messages`);
});
