import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  boundsOf,
  type Change,
  estimateDifference,
  estimateRatio,
  moreRunsNeeded,
  runsNeeded,
  welchFreedom,
} from "../../../src/measure/compare/change.ts";
import { judgeChange } from "../../../src/measure/compare/verdict.ts";
import { studentQuantile } from "../../../src/measure/intervals/distributions.ts";
import { meanOfRuns } from "../../../src/measure/intervals/over-runs.ts";
import { ratioBounds } from "../../../src/measure/intervals/ratio-interval.ts";
import { createRandom } from "../../../src/runtime/random.ts";
import { DISTRIBUTIONS, drawRuns } from "./draw-runs.ts";

/** Ratios and differences of runs: exact where they can be computed by hand, and right in simulation. */

const isNear = (actual: number | null, expected: number, tolerance = 1e-9): void =>
  assert.ok(actual !== null && Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

describe("the ratio of runs", () => {
  test("is the ratio of their means, with an interval at whose ends Welch's t test just rejects", () => {
    const [base, next] = [
      [10, 11, 12, 10.5],
      [12, 14, 13],
    ];
    const { value, low, high, basis } = estimateRatio({ values: base }, { values: next });
    isNear(value, 13 / 10.875);
    assert.equal(basis, "runs");
    const [b, n] = [meanOfRuns(base), meanOfRuns(next)];
    for (const end of [low, high]) {
      assert.ok(end !== null);
      const [vb, vn] = [(end ** 2 * (b.variance ?? 0)) / b.count, (n.variance ?? 0) / n.count];
      const t = Math.abs(n.mean - end * b.mean) / Math.sqrt(vb + vn);
      isNear(t, studentQuantile(0.975, welchFreedom(vb, b.count, vn, n.count)), 1e-6);
    }
  });

  test("of a base that does not vary is the interval of the new mean, divided", () => {
    const { low, high } = estimateRatio({ values: [10, 10, 10] }, { values: [11, 12, 13] });
    const half = studentQuantile(0.975, 2) / Math.sqrt(3);
    isNear(low, (12 - half) / 10, 1e-9);
    isNear(high, (12 + half) / 10, 1e-9);
  });

  for (const [name, base, next, expected] of [
    ["runs that do not vary have a ratio without width", [4, 4], [5, 5], [1.25, 1.25, 1.25, "runs"]],
    ["0 on both sides is no change", [0, 0], [0, 0], [1, 1, 1, "runs"]],
    ["a base of 0 has no ratio", [0, 0], [1, 2], [null, null, null, "none"]],
    ["a base that can be 0 bounds nothing above", [1, 20], [10, 10.1], [10.05 / 10.5, 0, null, "runs"]],
    ["one run on a side has no interval", [10], [11, 12], [1.15, null, null, "none"]],
  ] as const)
    test(name, () => {
      const { value, low, high, basis } = estimateRatio({ values: base }, { values: next });
      assert.equal(basis, expected[3]);
      for (const [actual, wanted] of [
        [value, expected[0]],
        [low, expected[1]],
        [high, expected[2]],
      ] as const)
        if (wanted === null) assert.equal(actual, null);
        else if (wanted === 0) assert.ok(actual !== null && actual < 0.2, `${actual}`);
        else isNear(actual, wanted);
    });

  test("of single runs rests on the intervals within them, when those are accepted", () => {
    const base = { values: [100], within: { low: 90, high: 115 } };
    const { value, low, high, basis } = estimateRatio(base, { values: [120], within: { low: 118, high: 125 } });
    isNear(value, 1.2);
    assert.equal(basis, "within-runs");
    isNear(low, 1.2 * Math.exp(-Math.hypot(Math.log(120 / 118), Math.log(1.15))));
    isNear(high, 1.2 * Math.exp(Math.hypot(Math.log(125 / 120), Math.log(1 / 0.9))));
  });
});

describe("the difference of runs", () => {
  test("has Welch's interval", () => {
    const { value, low, high } = estimateDifference({ values: [0, 0.02] }, { values: [0.1, 0.12] });
    const half = studentQuantile(0.975, 2) * Math.sqrt(2 * (0.0002 / 2));
    isNear(value, 0.1);
    isNear(low, 0.1 - half);
    isNear(high, 0.1 + half);
  });

  test("of single runs is Newcombe's", () => {
    const base = { values: [0.1], within: { low: 0.05, high: 0.2 } };
    const { low, high, basis } = estimateDifference(base, { values: [0.3], within: { low: 0.2, high: 0.45 } });
    assert.equal(basis, "within-runs");
    isNear(low, 0.2 - Math.hypot(0.1, 0.1));
    isNear(high, 0.2 + Math.hypot(0.15, 0.05));
  });

  test("of runs that do not vary has no width", () => {
    assert.deepEqual(estimateDifference({ values: [0, 0] }, { values: [0.5, 0.5] }), {
      kind: "difference",
      value: 0.5,
      low: 0.5,
      high: 0.5,
      basis: "runs",
    });
  });
});

describe("ratios of requests", () => {
  const none = { values: [0, 0, 0], counted: { count: 0, total: 1500 } };

  test("that are 0 in every run do not exclude failures", () => {
    const wilson = ratioBounds(0, 1500);
    assert.deepEqual(boundsOf(none), wilson);
    const { value, low, high } = estimateDifference(none, none);
    isNear(value, 0);
    isNear(low, -wilson.high);
    isNear(high, wilson.high);
  });

  test("keep the wider interval: that of the runs, or that of the counts", () => {
    const varied = [0, 0.1, 0.02];
    const wide = estimateDifference({ values: varied }, { values: varied });
    const many = { values: varied, counted: { count: 4000, total: 100_000 } };
    assert.deepEqual(estimateDifference(many, many), wide);
    assert.deepEqual(boundsOf(many), boundsOf({ values: varied }));
    const few = { values: varied, counted: { count: 2, total: 50 } };
    assert.ok((boundsOf(few)?.high ?? 0) >= (boundsOf({ values: varied })?.high ?? 1));
  });
});

test("the mean of a side has Student's interval over its runs, which is not below 0", () => {
  const half = (studentQuantile(0.975, 2) * 1) / Math.sqrt(3);
  const { low, high } = boundsOf({ values: [9, 10, 11] }) ?? {};
  isNear(low ?? null, 10 - half);
  isNear(high ?? null, 10 + half);
  assert.equal(boundsOf({ values: [0, 4] })?.low, 0);
  assert.equal(boundsOf({ values: [4] }), undefined);
});

/** Simulated comparisons of one kind. */
const COUNT = 2000;

describe("in simulation", () => {
  for (const distribution of DISTRIBUTIONS)
    for (const [baseCount, newCount, truth] of [
      [3, 3, 1],
      [5, 5, 1],
      [10, 4, 1],
      [5, 5, 1.2],
    ] as const)
      test(`${distribution.name}, ${baseCount} and ${newCount} runs, ratio ${truth}: intervals have the truth 95 times in 100`, () => {
        const random = createRandom(11);
        const changes: Change[] = Array.from({ length: COUNT }, () =>
          estimateRatio(
            { values: drawRuns(distribution, baseCount, 1, random) },
            { values: drawRuns(distribution, newCount, truth, random) },
          ),
        );
        const covered = changes.filter(
          ({ low, high }) => (low ?? 0) <= truth && truth <= (high ?? Number.POSITIVE_INFINITY),
        ).length;
        const ratio = covered / COUNT;
        assert.ok(ratio >= 0.935 && ratio <= 0.995, `${ratio}`);
        if (truth !== 1) return;
        const wrong = changes.filter((change) => ["better", "worse"].includes(judgeChange(change, "lower", 0.05)));
        assert.ok(wrong.length / COUNT <= 0.065, `${wrong.length / COUNT} verdicts of a change that is none`);
        const worse = wrong.filter((change) => judgeChange(change, "lower", 0.05) === "worse");
        assert.ok(worse.length / COUNT <= 0.045, `${worse.length / COUNT} verdicts of worse`);
      });
});

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
