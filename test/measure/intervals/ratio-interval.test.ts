import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ratioBounds, ratioInterval } from "../../../src/measure/intervals/ratio-interval.ts";

/** Published intervals of Clopper and Pearson at 95 %. */
const KNOWN: readonly (readonly [hits: number, count: number, low: number, high: number])[] = [
  [0, 10, 0, 0.3085],
  [1, 10, 0.0025, 0.445],
  [5, 10, 0.1871, 0.8129],
  [10, 10, 0.6915, 1],
  [0, 100, 0, 0.0362],
  [2, 100, 0.0024, 0.0704],
];

for (const [hits, count, low, high] of KNOWN)
  test(`${hits} of ${count}`, () => {
    const found = ratioInterval(hits, count);
    assert.ok(Math.abs(found.low - low) < 1e-4, String(found.low));
    assert.ok(Math.abs(found.high - high) < 1e-4, String(found.high));
  });

test("an interval holds the ratio and shrinks with the number", () => {
  let width = 1;
  for (const count of [10, 100, 1000, 10_000]) {
    const { low, high } = ratioInterval(count / 10, count);
    assert.ok(low < 0.1 && 0.1 < high);
    assert.ok(high - low < width);
    width = high - low;
  }
});

/** Wilson's interval. */

describe("the interval of a ratio", () => {
  // By hand: center (p + z²/2n) / (1 + z²/n), half z / (1 + z²/n) √(p (1 - p) / n + z²/4n²).
  for (const [count, total, low, high] of [
    [0, 100, 0, 0.037],
    [100, 100, 0.963, 1],
    [50, 100, 0.4038, 0.5962],
    [1, 10, 0.0179, 0.4042],
  ] as const)
    test(`${count} of ${total}`, () => {
      const bounds = ratioBounds(count, total);
      assert.ok(Math.abs(bounds.low - low) < 1e-3 && Math.abs(bounds.high - high) < 1e-3, JSON.stringify(bounds));
    });
});
