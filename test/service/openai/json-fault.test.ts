import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { findJsonFault } from "../../../src/service/openai/json-fault.ts";

test("JSON has no fault before its end", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      assert.equal(findJsonFault(text), text.length);
    }),
  );
});

test("the fault is the first token that is not allowed", () => {
  for (const [text, rest] of [
    ['{"a": 1,}', "}"],
    ["[1,]", "]"],
    ["[1 2]", "2]"],
    ['{"a" 1}', "1}"],
    ['{"a": x}', "x}"],
    ["{1: 2}", "1: 2}"],
    ['{"a": [1}', "}"],
    ['"a\nb"', '"a\nb"'],
    ['{"a": 1', ""],
    ["", ""],
    ["{} {}", "{}"],
    ["01", "1"],
  ] as const)
    assert.equal(text.slice(findJsonFault(text)), rest, text);
});

test("a text that lost a character is faulty before its end, or still JSON", () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (json, seed) => {
      const at = seed % json.length;
      const text = json.slice(0, at) + json.slice(at + 1);
      const fault = findJsonFault(text);
      if (isJson(text)) assert.equal(fault, text.length);
      // What begins well may go on: only the end is missing.
      else if (fault === text.length) assert.ok(!isJson(text));
      else assert.ok(!isJson(text.slice(0, fault + 1)) || fault < text.length);
    }),
  );
});
