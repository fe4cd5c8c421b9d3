import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { estimateDifference, estimateRatio } from "../../../src/measure/compare/change.ts";
import { moreRunsNeeded, runsNeeded } from "../../../src/measure/compare/runs-needed.ts";
import { createRandom } from "../../../src/runtime/random.ts";
import { DISTRIBUTIONS, drawRuns } from "./draw-runs.ts";

/** How many runs would be enough. */

describe("the number of runs needed", () => {
  const base = { values: [100, 110, 90] };
  const next = { values: [100, 112, 88] };
  const change = estimateRatio(base, next);

  test("grows by about the square of the precision", () => {
    const [coarse, fine] = [runsNeeded(base, next, change, 0.1), runsNeeded(base, next, change, 0.05)];
    assert.ok(
      coarse !== undefined && fine !== undefined && fine > 3 * coarse && fine < 4.5 * coarse,
      `${coarse} ${fine}`,
    );
  });

  test("is the least that is enough: 2 for runs that do not vary", () => {
    const same = { values: [5, 5] };
    assert.equal(runsNeeded(same, same, estimateRatio(same, same), 0.01), 2);
  });

  test("follows the counts of requests where runs have no failures", () => {
    const none = { values: [0, 0, 0], counted: { count: 0, total: 1500 } };
    const unchanged = estimateDifference(none, none);
    // 0.256 % of 1,500 requests to 0.1 %: about 6.5 times as many.
    assert.equal(runsNeeded(none, none, unchanged, 0.001), 20);
    assert.equal(runsNeeded(none, none, unchanged, 0.00001), undefined);
  });

  for (const [name, sides, halfWidth] of [
    ["single runs on both sides", [{ values: [1] }, { values: [2] }], 0.1],
    ["more than 1,000 runs", [base, next], 0.0001],
    ["a precision of 0", [base, next], 0],
    ["a base of 0", [{ values: [0, 0] }, { values: [1, 2] }], 0.1],
  ] as const)
    test(`is not known for ${name}`, () => {
      const [left, right] = sides;
      assert.equal(runsNeeded(left, right, estimateRatio(left, right), halfWidth), undefined);
    });

  test("takes a side with one run to vary like the other one", () => {
    const one = { values: [100] };
    const both = runsNeeded(base, base, estimateRatio(base, base), 0.05);
    assert.equal(runsNeeded(base, one, estimateRatio(base, one), 0.05), both);
  });

  test("to resolve more than now is more than there are now", () => {
    assert.equal(runsNeeded(base, next, change, 5), 2);
    assert.equal(moreRunsNeeded(base, next, change, 5), 4);
    assert.equal(moreRunsNeeded(base, { values: [1] }, change, 0), undefined);
    assert.equal(moreRunsNeeded(base, next, change, 0.05), runsNeeded(base, next, change, 0.05));
  });

  test("is known for differences too", () => {
    const [from, to] = [{ values: [0.01, 0.03] }, { values: [0.02, 0.05] }];
    const needed = runsNeeded(from, to, estimateDifference(from, to), 0.005);
    assert.ok(needed !== undefined && needed > 20 && needed < 200, `${needed}`);
  });

  test("is enough about every second time, and half as many hardly ever", () => {
    const [, distribution] = DISTRIBUTIONS;
    assert.ok(distribution !== undefined);
    const random = createRandom(5);
    const halfWidth = 0.1;
    // Many runs, so that the number needed is that of the true variation.
    const many = { values: drawRuns(distribution, 1000, 1, random) };
    const needed = runsNeeded(many, many, { ...estimateRatio(many, many) }, halfWidth);
    assert.ok(needed !== undefined);
    const share = (count: number): number => {
      const widths = Array.from({ length: 400 }, () => {
        const { low, high } = estimateRatio(
          { values: drawRuns(distribution, count, 1, random) },
          { values: drawRuns(distribution, count, 1, random) },
        );
        return ((high ?? 9) - (low ?? 0)) / 2;
      });
      return widths.filter((width) => width <= halfWidth).length / widths.length;
    };
    assert.ok(share(needed) > 0.35, `${share(needed)}`);
    assert.ok(share(Math.ceil(needed / 2)) < 0.1, `${share(Math.ceil(needed / 2))}`);
  });
});
