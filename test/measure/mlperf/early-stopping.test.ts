import assert from "node:assert/strict";
import { test } from "node:test";
import { estimateByEarlyStopping, leastQueries, leastWithin } from "../../../src/measure/mlperf/early-stopping.ts";

/** The published numbers of queries with none over the limit, and with one. */
const NUMBERS: readonly (readonly [percentile: number, withNone: number, withOne: number])[] = [
  [50, 7, 11],
  [90, 44, 64],
  [95, 90, 130],
  [99, 459, 662],
  [99.9, 4603, 6636],
];

for (const [percentile, withNone, withOne] of NUMBERS)
  test(`p${percentile} needs ${withNone} queries within the limit, or ${withOne} with one over it`, () => {
    assert.equal(leastWithin(0, percentile / 100), withNone);
    assert.equal(leastQueries(percentile / 100), withOne);
  });

test("more queries over the limit need more within it", () => {
  for (const ratio of [0.5, 0.9, 0.99]) {
    const needed = Array.from({ length: 60 }, (_, over) => leastWithin(over, ratio));
    for (const [index, count] of needed.slice(1).entries()) assert.ok(count > (needed[index] as number));
    for (const [over, count] of needed.entries())
      assert.ok(count / (count + over) > ratio, `${over} over the limit at ${ratio}`);
  }
});

test("an estimate discards as many of the highest latencies as the number of queries allows", () => {
  for (const count of [64, 65, 100, 1000, 5000]) {
    const sorted = Float64Array.from({ length: count }, (_, index) => index);
    const estimate = estimateByEarlyStopping(sorted, 0.9);
    assert.ok(estimate !== undefined);
    const over = estimate.discardedCount + 1;
    assert.ok(leastWithin(over, 0.9) + over <= count);
    assert.ok(leastWithin(over + 1, 0.9) + over + 1 > count);
    assert.equal(estimate.latencyNs, count - over);
    assert.ok(estimate.latencyNs >= (sorted[Math.floor(0.9 * count)] as number), "never below the percentile itself");
  }
});

test("too few queries give no estimate", () => {
  assert.equal(estimateByEarlyStopping(new Float64Array(63), 0.9), undefined);
  assert.notEqual(estimateByEarlyStopping(new Float64Array(64), 0.9), undefined);
});
