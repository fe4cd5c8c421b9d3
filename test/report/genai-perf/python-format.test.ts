import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  formatFloat,
  formatPythonJson,
  formatTwoDecimals,
  PythonFloat,
} from "../../../src/report/genai-perf/python-format.ts";

/** What Python 3.11 prints. */
const floats: readonly (readonly [value: number, text: string])[] = [
  [0, "0.0"],
  [-0, "-0.0"],
  [1, "1.0"],
  [-1.5, "-1.5"],
  [1e15, "1000000000000000.0"],
  [9999999999999998, "9999999999999998.0"],
  [1e16, "1e+16"],
  [123456789012345680, "1.2345678901234568e+17"],
  [1e22, "1e+22"],
  [1e100, "1e+100"],
  [0.0001, "0.0001"],
  [0.00012, "0.00012"],
  [0.00001, "1e-05"],
  [1.5e-7, "1.5e-07"],
  [5e-324, "5e-324"],
  [1.7976931348623157e308, "1.7976931348623157e+308"],
  [107.00000000000001, "107.00000000000001"],
];

for (const [value, text] of floats) {
  test(`repr of ${text}`, () => {
    assert.equal(formatFloat(value), text);
  });
}

test("a printed float reads back as the same number", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
      Object.is(Number(formatFloat(value)), value),
    ),
  );
});

const decimals: readonly (readonly [value: number, text: string])[] = [
  [0.125, "0.12"],
  [0.375, "0.38"],
  [0.625, "0.62"],
  [0.875, "0.88"],
  [2.675, "2.67"],
  [1.005, "1.00"],
  [0.005, "0.01"],
  [1234.5, "1,234.50"],
  [999999.995, "999,999.99"],
  [1e6, "1,000,000.00"],
  [1234567.125, "1,234,567.12"],
  [-0.125, "-0.12"],
  [-1234.5, "-1,234.50"],
  [1e21, "1,000,000,000,000,000,000,000.00"],
  [0, "0.00"],
  [-0, "-0.00"],
  [Number.NaN, "nan"],
  [Number.POSITIVE_INFINITY, "inf"],
  [Number.NEGATIVE_INFINITY, "-inf"],
];

for (const [value, text] of decimals) {
  test(`two decimals of ${value} are ${text}`, () => {
    assert.equal(formatTwoDecimals(value), text);
  });
}

test("JSON is indented, escaped and typed as Python's", () => {
  const value = {
    'a\x7fé😀"\\\n\x01': [[], {}, null, true, 1, new PythonFloat(1), Infinity, Number.NaN],
    gone: undefined,
  };
  const lines = ["[]", "{}", "null", "true", "1", "1.0", "Infinity", "NaN"].map((text) => `    ${text}`).join(",\n");
  assert.equal(formatPythonJson(value), `{\n  "a\\u007f\\u00e9\\ud83d\\ude00\\"\\\\\\n\\u0001": [\n${lines}\n  ]\n}`);
});

test("a map keeps the order of keys that look like numbers", () => {
  const map = new Map([
    ["10", 1],
    ["2", 2],
  ]);
  assert.equal(formatPythonJson(map), '{\n  "10": 1,\n  "2": 2\n}');
});

test("JSON of any plain data reads back as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = formatPythonJson(value as Parameters<typeof formatPythonJson>[0]);
      // -0 has no sign as an int, in Python neither.
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    }),
  );
});
