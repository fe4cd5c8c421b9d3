import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ratioBounds } from "../../../src/measure/intervals/ratio-bounds.ts";

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
