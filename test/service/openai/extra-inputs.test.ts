import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/plan/problem.ts";
import { parseExtraInputs } from "../../../src/service/openai/extra-inputs.ts";

const good: [texts: string[], expected: object][] = [
  [[], {}],
  [["temperature:0.7", "ignore_eos:true", "n:3"], { temperature: 0.7, ignore_eos: true, n: 3 }],
  [["stop:null", "flag"], { stop: null, flag: null }],
  [["a:-1", "b:1e-3", "c:.5", "d:True"], { a: -1, b: 0.001, c: 0.5, d: true }],
  [["schema:http://host/x", "version:1.2.3", "name:12a"], { schema: "http://host/x", version: "1.2.3", name: "12a" }],
  [['{"top_p": 0.9, "stop": ["x"], "nested": {"a": 1}}', "k:1"], { top_p: 0.9, stop: ["x"], nested: { a: 1 }, k: 1 }],
];

test("extra inputs have the types their texts show", () => {
  for (const [texts, expected] of good) assert.deepEqual(parseExtraInputs(texts), expected, texts.join(" "));
});

const bad: [texts: string[], message: RegExp][] = [
  [[":1"], /--extra-inputs: has an empty name or value \(got :1\)\. Type name:value/],
  [["a:"], /has an empty name or value/],
  [["{a:1}"], /is no JSON object/],
  [["a:1", '{"a": 2}'], /'a' is given twice/],
];

test("what cannot be read is refused with its text", () => {
  for (const [texts, message] of bad) {
    assert.throws(
      () => parseExtraInputs(texts),
      (error) => error instanceof UserError && message.test(error.message),
    );
  }
});
