import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { combineRuns, precisionOf, standardErrorOf } from "../../../src/measure/intervals/over-runs.ts";
import { ratioBounds } from "../../../src/measure/intervals/ratio-interval.ts";
import { createRandom } from "../../../src/runtime/random.ts";

/** Several runs as one: each counts once. */

function valuesOf(...values: readonly number[]) {
  return values.map((value) => ({ value }));
}

test("runs have the mean of their values, with Student's interval", () => {
  const { count, mean, low, high, deviation } = combineRuns(valuesOf(8, 10, 12, 14, 16));
  assert.deepEqual([count, mean], [5, 12]);
  assert.ok(Math.abs((deviation as number) - Math.sqrt(10)) < 1e-12);
  // 2.776 is t for 4 degrees of freedom.
  const half = 2.7764 * Math.sqrt(10 / 5);
  assert.ok(Math.abs((high as number) - 12 - half) < 1e-3 && Math.abs(12 - (low as number) - half) < 1e-3);
});

test("one run has no interval, and equal runs have one without width", () => {
  const one = combineRuns(valuesOf(7));
  assert.deepEqual([one.mean, one.low, one.high, one.deviation, precisionOf(one)], [7, null, null, null, undefined]);
  const same = combineRuns(valuesOf(7, 7, 7));
  assert.deepEqual([same.low, same.high, same.deviation, precisionOf(same)], [7, 7, 0, 0]);
  assert.equal(precisionOf(combineRuns(valuesOf(0, 0))), 0);
});

test("the interval contains the mean, and does not go below 0 unless a value does", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 9 }), (values) => {
      const { mean, low, high } = combineRuns(valuesOf(...values));
      assert.ok((low as number) >= 0 && (low as number) <= mean * (1 + 1e-9) && mean <= (high as number) * (1 + 1e-9));
    }),
  );
  assert.equal(combineRuns(valuesOf(0, 10)).low, 0);
  assert.ok((combineRuns(valuesOf(-1, 10)).low as number) < -1);
});

test("variation between runs is compared with what the runs say of themselves", () => {
  const runs = [10, 12, 14].map((value) => ({ value, standardError: 0.5 }));
  const { withinDeviation, betweenToWithinRatio } = combineRuns(runs);
  assert.deepEqual([withinDeviation, betweenToWithinRatio], [0.5, 4]);
  const unknown = combineRuns([...runs, { value: 13 }]);
  assert.deepEqual([unknown.withinDeviation, unknown.betweenToWithinRatio], [null, null]);
  assert.ok(Math.abs((standardErrorOf(8, 12) as number) - 4 / 3.92) < 1e-3);
  assert.equal(standardErrorOf(null, 12), undefined);
});

test("intervals of 95 % contain the true mean of runs", () => {
  const random = createRandom(3);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let covering = 0;
  for (let time = 0; time < 2000; time++) {
    const { low, high } = combineRuns(Array.from({ length: 5 }, () => ({ value: 100 + 10 * normal() })));
    if ((low as number) <= 100 && 100 <= (high as number)) covering++;
  }
  assert.ok(covering > 1860 && covering < 1940, String(covering));
});

test("runs without a failure do not show that none can occur", () => {
  const clean = { value: 0, requests: { count: 0, total: 1000 } };
  const runs = combineRuns([clean, clean, clean]);
  const { low, high } = ratioBounds(0, 3000);
  assert.deepEqual([runs.mean, runs.low, runs.high], [0, low, high]);
  assert.ok(high > 0 && high < 0.002);
  // Runs that differ by more than chance keep their own, wider interval.
  const uneven = [0, 200].map((count) => ({ value: count / 1000, requests: { count, total: 1000 } }));
  assert.deepEqual(combineRuns(uneven).high, combineRuns(uneven.map(({ value }) => ({ value }))).high);
});
