import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { compactJson, formatJson, parseJson, plainKey, toPlainNumber } from "../../src/service/json-text.ts";
import { parseLossless } from "../../src/service/lossless-json.ts";

const AS_WRITTEN: readonly string[] = [
  "9007199254740993",
  "18446744073709551615",
  "-9223372036854775809",
  "1.0",
  "-0",
  "-0.0",
  "1e400",
  "1E5",
  "0.10",
  "1e-7",
  "0.0000001",
  "0.1234567890123456789",
  '{"50256":-100,"10":1}',
  '{"b":1,"2":{"1":1.0,"0":[2.50]},"a":3}',
  '{"temperature":1.0,"seed":18446744073709551615,"text":"1.0 and 9007199254740993"}',
];

describe("JSON as it was written", () => {
  for (const text of AS_WRITTEN) {
    test(text, () => {
      assert.equal(compactJson(text), text);
      assert.equal(compactJson(` [ ${text} ,\n${text}\t] `), `[${text},${text}]`);
    });
  }

  test("strings are printed as JSON.stringify prints them, without white space outside of them", () => {
    assert.equal(compactJson('{ "a" : "\\u00e9 1.0 \\/ \\"\\\\" , "n" : 2.0 }'), '{"a":"é 1.0 / \\"\\\\","n":2.0}');
  });

  test("whatever else a text holds, it is printed as JSON.stringify prints it", () => {
    fc.assert(
      fc.property(fc.json(), fc.boolean(), (json, isIndented) => {
        const value: unknown = JSON.parse(json);
        // Digits as JavaScript prints them; keys that look like integers are in JavaScript's order already.
        const printed = JSON.stringify(value, null, isIndented ? 2 : 0);
        assert.equal(compactJson(printed), JSON.stringify(value));
      }),
      { numRuns: 300 },
    );
  });

  test("invalid JSON is rejected like by JSON.parse", () => {
    for (const text of ["", "{", "[1.0,]", "{1.0}", '{"a":1.0', "1.0.0", "[1e5 2]"])
      assert.throws(() => compactJson(text), SyntaxError, text);
  });

  test("a value that is nested too deep is refused, not a crash", () => {
    assert.throws(() => compactJson(`${"[".repeat(5000)}1.0${"]".repeat(5000)}`), SyntaxError);
  });

  test("numbers and keys can be had as plain values", () => {
    const value = parseJson('{"1":[2.0,3],"t":[1e3]}') as Record<string, unknown>;
    assert.deepEqual(Object.keys(value).map(plainKey), ["1", "t"]);
    assert.deepEqual(Object.values(value).map(toPlainNumber), [[2, 3], [1000]]);
    assert.equal(formatJson({ ...value, t: 1 }), '{"1":[2.0,3],"t":1}');
  });
});

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
