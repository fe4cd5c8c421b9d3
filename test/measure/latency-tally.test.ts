import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { LatencyTally } from "../../src/measure/latency-tally.ts";
import { tallyOf } from "./make-window.ts";

/** Latencies up to a minute: within the cells, at their edge and far beyond them. */
const latencyNs = fc.oneof(
  fc.double({ min: 0, max: 5e6, noNaN: true }),
  fc.double({ min: 0, max: 2e9, noNaN: true }),
  fc.double({ min: 1.04e9, max: 60e9, noNaN: true }),
);
const latencies = fc.array(latencyNs, { minLength: 1, maxLength: 200 });

/** perf_analyzer's percentile, from a sorted list. */
function naivePercentileUs(valuesNs: readonly number[], percentile: number): number {
  const sorted = valuesNs.map((value) => Math.floor(value / 1000)).sort((a, b) => a - b);
  return sorted[Math.floor((percentile / 100) * (sorted.length - 1) + 0.5)] as number;
}

function isClose(actual: number | undefined, expected: number, scale: number): void {
  assert.ok(Math.abs((actual as number) - expected) <= 1e-9 * Math.max(1, scale), `${actual} instead of ${expected}`);
}

test("percentiles are exactly those of the sorted list", () => {
  fc.assert(
    fc.property(latencies, fc.integer({ min: 1, max: 99 }), (values, percentile) => {
      assert.equal(tallyOf(values).percentileUs(percentile), naivePercentileUs(values, percentile));
    }),
  );
});

test("every rank is exactly that of the sorted list", () => {
  fc.assert(
    fc.property(latencies, (values) => {
      const tally = tallyOf(values);
      const sorted = values.map((value) => Math.floor(value / 1000)).sort((a, b) => a - b);
      assert.deepEqual(
        sorted.map((_, rank) => tally.atRankUs(rank)),
        sorted,
      );
      assert.throws(() => tally.atRankUs(sorted.length), RangeError);
    }),
  );
});

test("percentiles of known samples are perf_analyzer's", () => {
  const hundred = tallyOf(Array.from({ length: 100 }, (_, index) => (index + 1) * 1000));
  assert.deepEqual(
    [50, 90, 95, 99].map((percentile) => hundred.percentileUs(percentile)),
    [51, 90, 95, 99],
  );
  assert.equal(tallyOf([7999]).percentileUs(99), 7);
  assert.deepEqual([tallyOf([1000, 2000]).percentileUs(49), tallyOf([1000, 2000]).percentileUs(50)], [1, 2]);
});

test("mean, deviation, smallest and largest are those of the list", () => {
  fc.assert(
    fc.property(latencies, (values) => {
      const tally = tallyOf(values);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const largest = Math.max(...values);
      assert.equal(tally.count, values.length);
      assert.deepEqual([tally.minNs, tally.maxNs], [Math.min(...values), largest]);
      isClose(tally.meanNs, mean, largest);
      isClose(tally.sumNs, mean * values.length, largest * values.length);
      if (values.length < 2) assert.equal(tally.deviationNs, undefined);
      else isClose(tally.deviationNs, Math.sqrt(squares / (values.length - 1)), largest * 1e3);
    }),
  );
});

test("the deviation survives a large offset", () => {
  const offset = 3600e9;
  const deviation = tallyOf([1, 2, 3, 4].map((value) => offset + value * 1000)).deviationNs as number;
  assert.ok(Math.abs(deviation - 1290.9944) < 0.01, String(deviation));
});

test("merging tallies is the same as counting everything in one", () => {
  fc.assert(
    fc.property(fc.array(fc.array(latencyNs, { maxLength: 50 }), { maxLength: 5 }), (parts) => {
      const merged = new LatencyTally();
      for (const part of parts) merged.merge(tallyOf(part));
      const all = parts.flat();
      const whole = tallyOf(all);
      assert.deepEqual([merged.count, merged.minNs, merged.maxNs], [whole.count, whole.minNs, whole.maxNs]);
      isClose(merged.meanNs, whole.meanNs, whole.maxNs);
      for (let rank = 0; rank < all.length; rank++) assert.equal(merged.atRankUs(rank), whole.atRankUs(rank));
      if (all.length > 1) isClose(merged.deviationNs, whole.deviationNs as number, whole.maxNs * 1e3);
    }),
  );
});

test("an empty tally has no latencies", () => {
  const tally = new LatencyTally();
  tally.addAll(Float64Array.from([1, 2]), 1, 1);
  assert.deepEqual([tally.count, tally.minNs, tally.maxNs, tally.meanNs], [0, Number.POSITIVE_INFINITY, 0, 0]);
  assert.throws(() => tally.percentileUs(50), RangeError);
});

test("only the rows named are added", () => {
  const tally = new LatencyTally();
  tally.addAll(Float64Array.from([1000, 2000, 3000, 4000]), 1, 3);
  assert.deepEqual([tally.count, tally.minNs, tally.maxNs], [2, 2000, 3000]);
});

test("each microsecond is visited with its count", () => {
  const seen: [number, number][] = [];
  tallyOf([1500, 1999, 3000, 5e9, 5e9]).forEach((us, count) => {
    seen.push([us, count]);
  });
  assert.deepEqual(seen, [
    [1, 2],
    [3, 1],
    [5_000_000, 2],
  ]);
});

test("latencies that vary from batch to batch are worth fewer than they are, and never fewer than 1", () => {
  const steps = Array.from({ length: 4000 }, (_, index) => (1 + Math.floor(index / 1000)) * 1e6);
  const mixed = steps.map((_, index) => (1 + ((index * 1_103_515_245) % 4)) * 1e6);
  const stepped = tallyOf(steps);
  assert.ok(stepped.effectiveCount < 20 && stepped.effectiveCount >= 1, String(stepped.effectiveCount));
  assert.equal(tallyOf(mixed).effectiveCount, 4000);
  assert.equal(tallyOf(new Array<number>(500).fill(2e6)).effectiveCount, 500);
  assert.deepEqual([tallyOf([]).effectiveCount, tallyOf([1e6]).effectiveCountAt(99)], [0, 1]);
});

test("a tally without order counts every latency as independent", () => {
  const tally = new LatencyTally({ hasOrder: false });
  const steps = Float64Array.from({ length: 400 }, (_, index) => Math.floor(index / 100) * 1e6);
  tally.addAll(steps, 0, 400);
  assert.deepEqual([tally.effectiveCount, tally.effectiveCountAt(99)], [400, 400]);
});
