import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatStreamNumber, toWholeUs } from "../../../src/report/perf-analyzer/number-format.ts";

/** Numbers as a C++ stream prints a double by default. */
const numbers: readonly (readonly [value: number, text: string])[] = [
  [0, "0"],
  [1, "1"],
  [10170, "10170"],
  [93.29, "93.29"],
  [0.999598, "0.999598"],
  [0.9995981, "0.999598"],
  [123456.7, "123457"],
  [999999.4, "999999"],
  [999999.5, "1e+06"],
  [1e6, "1e+06"],
  [1234567, "1.23457e+06"],
  [1.5e10, "1.5e+10"],
  [1e100, "1e+100"],
  [0.0001, "0.0001"],
  [0.00012345678, "0.000123457"],
  [0.0000999999, "9.99999e-05"],
  [0.00001, "1e-05"],
  [-2.5, "-2.5"],
  [3 * 1.1, "3.3"],
  [100.10001, "100.1"],
  [12.3400001, "12.34"],
  [Number.NaN, "nan"],
  [Number.POSITIVE_INFINITY, "inf"],
  [Number.NEGATIVE_INFINITY, "-inf"],
];

for (const [value, text] of numbers)
  test(`${value} is printed ${text}`, () => assert.equal(formatStreamNumber(value), text));

test("a printed number is within six significant digits and has no trailing zeros", () => {
  const value = fc.double({ min: -1e15, max: 1e15, noNaN: true }).filter((number) => Math.abs(number) > 1e-12);
  fc.assert(
    fc.property(value, (number) => {
      const text = formatStreamNumber(number);
      assert.ok(Math.abs(Number(text) / number - 1) <= 5.1e-6, `${number} printed ${text}`);
      assert.doesNotMatch(text, /\.\d*0(e|$)/);
      assert.ok(
        text
          .replace(/e.*/, "")
          .replace(/^-?0?\.?0*/, "")
          .replace(/[^\d]/g, "").length <= 6,
        text,
      );
    }),
  );
});

test("nanoseconds become whole microseconds, rounded down", () => {
  assert.deepEqual([toWholeUs(1999), toWholeUs(2000), toWholeUs(0)], [1, 2, 0]);
});
