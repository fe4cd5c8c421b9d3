import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isRatioExceeded } from "../../../src/run/judge/failure-policy.ts";

/** When a share of failures is certain to be above the limit. */

const UNKNOWN = Number.POSITIVE_INFINITY;

describe("the share of failures is above the limit", () => {
  const cases = [
    // The limit, what failed and succeeded so far, how many there will be, and the verdict.
    [0.1, 100, 0, 1000, false],
    [0.1, 101, 0, 1000, true],
    [0.1, 101, 899, 1000, true],
    [0.5, 1, 0, 1, true],
    [1, 1000, 0, 1000, false],
    [0.01, 19, 0, UNKNOWN, false],
    [0.01, 20, 0, UNKNOWN, true],
    [0.5, 29, 0, UNKNOWN, false],
    [0.5, 30, 0, UNKNOWN, true],
    [0.1, 11, 89, UNKNOWN, false],
    [0.1, 300, 700, UNKNOWN, true],
    [0.1, 100, 900, UNKNOWN, false],
    [1, 1000, 0, UNKNOWN, false],
  ] as const;
  for (const [maxRatio, failedCount, completedCount, totalCount, isExceeded] of cases) {
    const name = `${failedCount} of ${failedCount + completedCount} failed, of ${totalCount} to come, ${maxRatio} allowed`;
    test(`${isExceeded ? "for certain" : "not for certain"}: ${name}`, () => {
      assert.equal(isRatioExceeded({ maxRatio, failedCount, completedCount, totalCount }), isExceeded);
    });
  }

  test("never while successes could still lower it enough, and always once they cannot", () => {
    for (let failedCount = 0; failedCount <= 60; failedCount++) {
      for (const maxRatio of [0.05, 0.3, 0.9]) {
        const totalCount = 60;
        const isMendable = failedCount / totalCount <= maxRatio;
        assert.equal(isRatioExceeded({ maxRatio, failedCount, completedCount: 0, totalCount }), !isMendable);
      }
    }
  });
});
