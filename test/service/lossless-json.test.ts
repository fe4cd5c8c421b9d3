import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseLossless } from "../../src/service/lossless-json.ts";

const CASES: readonly (readonly [json: string, value: unknown])[] = [
  ["NaN", Number.NaN],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["[Inf, -Inf]", [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
  ["12345678901234567", 12345678901234567n],
  ['{"a":-9007199254740993}', { a: -9007199254740993n }],
  ["[0.1234567890123456789]", [0.12345678901234568]],
  ["[12345678901234567.5, 12345678901234567e3]", [12345678901234568, 12345678901234567000]],
  [
    '["NaN", "12345678901234567", "say \\"Inf\\" 12345678901234567"]',
    ["NaN", "12345678901234567", 'say "Inf" 12345678901234567'],
  ],
  ['["\\\\", 12345678901234567]', ["\\", 12345678901234567n]],
];

describe("JSON without loss", () => {
  for (const [json, value] of CASES) {
    test(json, () => {
      assert.deepEqual(parseLossless(json), value);
    });
  }

  test("text of megabytes beside a number that needs care", () => {
    const text = "aNaN1234567890123456".repeat(200_000);
    assert.deepEqual(parseLossless(`[${JSON.stringify(text)}, NaN]`), [text, Number.NaN]);
  });

  test("invalid JSON is rejected", () => {
    for (const json of ["", "{", "[1,]", "nan", "[NaN", "'a'"]) assert.throws(() => parseLossless(json), SyntaxError);
  });
});
