import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { fitsShortFloat, fromShortFloat, readShortFloats, toShortFloat } from "../../src/service/short-floats.ts";

/** FP16 and BF16. */

/** From IEEE 754-2019 and numpy's float16. */
const HALVES: readonly (readonly [value: number, bits: number])[] = [
  [0, 0x0000],
  [-0, 0x8000],
  [1, 0x3c00],
  [-2, 0xc000],
  [0.1, 0x2e66],
  [1 / 3, 0x3555],
  [65504, 0x7bff],
  [65519.99, 0x7bff],
  [65520, 0x7c00],
  [1e300, 0x7c00],
  [Number.POSITIVE_INFINITY, 0x7c00],
  [Number.NEGATIVE_INFINITY, 0xfc00],
  [Number.NaN, 0x7e00],
  [2 ** -14, 0x0400],
  [2 ** -24, 0x0001],
  [2 ** -25, 0x0000],
  [1.0000001 * 2 ** -25, 0x0001],
  [3 * 2 ** -25, 0x0002],
  [1023.7 * 2 ** -24, 0x0400],
  // Ties go to even, and are decided by the double itself, not by the float nearest to it.
  [2049, 0x6800],
  [2051, 0x6802],
  [2049.0000001, 0x6801],
  [5e-324, 0x0000],
];

for (const [value, bits] of HALVES)
  test(`FP16 of ${Object.is(value, -0) ? "-0" : value}`, () => assert.equal(toShortFloat("FP16", value), bits));

for (const type of ["FP16", "BF16"] as const)
  test(`every number of ${type} is read and written back`, () => {
    for (let bits = 0; bits < 65_536; bits++) {
      const value = fromShortFloat(type, bits);
      if (!Number.isNaN(value)) assert.equal(toShortFloat(type, value), bits);
    }
  });

/** The upper half of a float, rounded to even, which the hardware rounds from the double first: exact where the double is a float. */
test("BF16 is the upper half of a float", () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true }), (value) => {
      const [word = 0] = new Uint32Array(new Float32Array([value]).buffer);
      const rounded = (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
      assert.equal(toShortFloat("BF16", value), rounded & 0xffff);
    }),
  );
});

test("the nearest number is taken", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: -65_500, max: 65_500 }), (value) => {
      const bits = toShortFloat("FP16", value);
      const distance = Math.abs(fromShortFloat("FP16", bits) - value);
      for (const other of [bits - 1, bits + 1]) {
        const far = Math.abs(fromShortFloat("FP16", other & 0xffff) - value);
        assert.ok(!(far < distance), `${value}: ${bits}, ${other}`);
      }
    }),
  );
});

test("what is too large does not fit, and arrays are little-endian", () => {
  assert.deepEqual([fitsShortFloat("FP16", 65_519), fitsShortFloat("FP16", 65_520)], [true, false]);
  assert.deepEqual([fitsShortFloat("BF16", 65_520), fitsShortFloat("BF16", 1e39)], [true, false]);
  assert.deepEqual(readShortFloats("FP16", Uint8Array.of(0x00, 0x3c, 0x66, 0x2e)), [1, 0.0999755859375]);
});
