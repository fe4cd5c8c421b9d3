import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../../src/measure/compare/change.ts";
import { judgeChange, mattersAt, noneOf, POINTS_PRECISION } from "../../../src/measure/compare/verdict.ts";

/** What a change says, by its interval and the direction of the metric. */

const ratio = (low: number | null, high: number | null): Change => ({
  kind: "ratio",
  value: 1,
  low,
  high,
  basis: low === null ? "none" : "runs",
});

describe("verdicts", () => {
  for (const [low, high, better, expected] of [
    [1.02, 1.2, "lower", "worse"],
    [1.02, 1.2, "higher", "better"],
    [0.8, 0.99, "lower", "better"],
    [0.8, 0.99, "higher", "worse"],
    [1.02, 1.2, undefined, "changed"],
    [0.8, 0.99, undefined, "changed"],
    [1.001, 1.002, "lower", "worse"],
    [1.1, null, "lower", "worse"],
    [0.96, 1.04, "lower", "no-difference"],
    [0.95, 1.05, undefined, "no-difference"],
    [0.94, 1.04, "lower", "inconclusive"],
    [0.96, 1.06, "higher", "inconclusive"],
    [1, 1, "lower", "no-difference"],
    [0, null, "lower", "inconclusive"],
    [null, null, "lower", "inconclusive"],
  ] as const)
    test(`${low} to ${high}, ${better ?? "neither"} is better: ${expected}`, () => {
      assert.equal(judgeChange(ratio(low, high), better, 0.05), expected);
    });

  for (const [low, high, expected] of [
    [0.001, 0.02, "worse"],
    [-0.004, 0.004, "no-difference"],
    [-0.004, 0.006, "inconclusive"],
  ] as const)
    test(`points ${low} to ${high}: ${expected}, whatever the precision of ratios`, () => {
      assert.equal(judgeChange({ ...ratio(low, high), kind: "difference" }, "lower", 0.5), expected);
    });

  test("no change is a ratio of 1, or a difference of 0", () => {
    assert.equal(noneOf({ kind: "ratio" } as Change), 1);
    assert.equal(noneOf({ kind: "difference" } as Change), 0);
    assert.equal(mattersAt({ kind: "difference" } as Change, 0.05), POINTS_PRECISION);
  });
});
