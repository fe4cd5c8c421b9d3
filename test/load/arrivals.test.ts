import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  type Arrivals,
  constantArrivals,
  intervalArrivals,
  intervalsRatePerSec,
  poissonArrivals,
} from "../../src/load/arrivals.ts";

function take(arrivals: Arrivals, count: number): number[] {
  return Array.from({ length: count }, arrivals);
}

function gapsOf(times: readonly number[]): number[] {
  return times.map((time, index) => time - (times[index - 1] ?? 0));
}

test("a constant rate sends one request per period, the first after one period", () => {
  assert.deepEqual(take(constantArrivals(4), 5), [250e6, 500e6, 750e6, 1000e6, 1250e6]);
});

test("a constant rate does not drift over a long run", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.1, max: 1e5, noNaN: true }), fc.integer({ min: 1, max: 5000 }), (rate, count) => {
      const last = take(constantArrivals(rate), count).at(-1) as number;
      assert.equal(last, count * (1e9 / rate));
    }),
  );
});

test("the same seed gives the same Poisson process, another seed another one", () => {
  assert.deepEqual(take(poissonArrivals(100, 7), 100), take(poissonArrivals(100, 7), 100));
  assert.notDeepEqual(take(poissonArrivals(100, 7), 100), take(poissonArrivals(100, 8), 100));
});

/** Largest distance between the sample's distribution and the exponential one with the mean given (Kolmogorov and Smirnov). */
function exponentialDistance(gaps: readonly number[], mean: number): number {
  const sorted = [...gaps].sort((a, b) => a - b);
  return sorted.reduce((worst, gap, index) => {
    const expected = 1 - Math.exp(-gap / mean);
    const below = Math.abs(expected - index / sorted.length);
    return Math.max(worst, below, Math.abs(expected - (index + 1) / sorted.length));
  }, 0);
}

for (const [ratePerSec, seed] of [
  [100, 5489],
  [2.5, 1],
  [20_000, 99],
] as const) {
  test(`Poisson gaps at ${ratePerSec}/s with seed ${seed} are exponential and independent`, () => {
    const count = 20_000;
    const gaps = gapsOf(take(poissonArrivals(ratePerSec, seed), count));
    const expectedMean = 1e9 / ratePerSec;
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / count;
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / (count - 1);
    // Four standard errors: the mean's is mean/sqrt(n), the variance's is about mean^2 * sqrt(8/n).
    assert.ok(Math.abs(mean / expectedMean - 1) < 4 / Math.sqrt(count), `mean ${mean}`);
    assert.ok(Math.abs(variance / expectedMean ** 2 - 1) < 4 * Math.sqrt(8 / count), `variance ${variance}`);
    // The test's critical value at 0.1 %.
    assert.ok(exponentialDistance(gaps, expectedMean) < 1.95 / Math.sqrt(count));
    const covariance = gaps.slice(1).reduce((sum, gap, i) => sum + (gap - mean) * ((gaps[i] as number) - mean), 0);
    assert.ok(Math.abs(covariance / ((count - 1) * variance)) < 4 / Math.sqrt(count), "successive gaps are related");
  });
}

test("the test of the distribution can fail: even gaps are not exponential", () => {
  const gaps = gapsOf(take(constantArrivals(100), 1000));
  assert.ok(exponentialDistance(gaps, 1e7) > 1.95 / Math.sqrt(1000));
});

test("intervals come over and over", () => {
  assert.deepEqual(take(intervalArrivals([100, 200, 500]), 7), [100, 300, 800, 900, 1100, 1600, 1700]);
  assert.deepEqual(take(intervalArrivals([0, 10]), 4), [0, 10, 10, 20]);
});

test("every arrival process goes forward, and intervals repeat with their sum", () => {
  const intervals = fc
    .array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 20 })
    .filter((gaps) => gaps.some((gap) => gap > 0));
  fc.assert(
    fc.property(intervals, fc.integer({ min: 1, max: 4 }), (gaps, rounds) => {
      const times = take(intervalArrivals(gaps), gaps.length * rounds);
      assert.ok(gapsOf(times).every((gap) => gap >= 0));
      assert.equal(times.at(-1), rounds * gaps.reduce((sum, gap) => sum + gap, 0));
      assert.deepEqual(gapsOf(times).slice(0, gaps.length), gaps);
    }),
  );
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 1e6, noNaN: true }), fc.integer(), (rate, seed) => {
      assert.ok(gapsOf(take(poissonArrivals(rate, seed), 200)).every((gap) => gap >= 0 && Number.isFinite(gap)));
    }),
  );
});

test("the rate of intervals is whole requests per second, rounded down", () => {
  assert.equal(intervalsRatePerSec([10e6]), 100);
  assert.equal(intervalsRatePerSec([100e6, 200e6, 500e6]), 3);
  assert.equal(intervalsRatePerSec([2e9]), 0);
});

for (const seed of [0, 1, 5489, 123_456]) {
  test(`Poisson arrivals do not depend on those before (seed ${seed}), and their counts vary as much as their mean`, () => {
    const times = Array.from({ length: 20_000 }, poissonArrivals(1000, seed));
    const gaps = times.map((time, index) => time - (times[index - 1] ?? 0));
    const counts = new Array<number>(200).fill(0);
    const stretchNs = (times.at(-1) as number) / counts.length;
    for (const time of times) {
      const index = Math.min(counts.length - 1, Math.floor(time / stretchNs));
      counts[index] = (counts[index] as number) + 1;
    }
    const mean = times.length / counts.length;
    const dispersion = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / mean / (counts.length - 1);
    assert.ok(Math.abs(dispersion - 1) < 0.3, `counts vary ${dispersion} times as much as they should`);
    const meanGap = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    let [covariance, variance] = [0, 0];
    for (const [index, gap] of gaps.entries()) {
      variance += (gap - meanGap) ** 2;
      covariance += (gap - meanGap) * ((gaps[index + 1] ?? meanGap) - meanGap);
    }
    // One in a thousand sequences of independent gaps is further from 0.
    assert.ok(Math.abs(covariance / variance) < 3.3 / Math.sqrt(gaps.length), "a gap depends on the one before");
  });
}
