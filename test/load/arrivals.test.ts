import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  type Arrivals,
  constantArrivals,
  fromMidGap,
  gammaArrivals,
  intervalArrivals,
  intervalsRatePerSec,
  poissonArrivals,
  rampArrivals,
} from "../../src/load/arrivals.ts";

const POISSON_100_SEED_1 = [960369.2985713232, 22870163.80554034, 28566550.39271381];
const GAMMA_HALF_SEED_1 = [56018.4830312099, 9354599.708529433, 9648541.747011475];
const GAMMA_FOUR_SEED_1 = [7291580.211344222, 19583704.993133284, 23428090.331972137];

function take(arrivals: Arrivals, count: number): number[] {
  return Array.from({ length: count }, arrivals);
}

function gapsOf(times: readonly number[]): number[] {
  return times.map((time, index) => time - (times[index - 1] ?? 0));
}

test("a constant rate sends one request per period, the first after one period", () => {
  assert.deepEqual(take(constantArrivals(4), 5), [250e6, 500e6, 750e6, 1000e6, 1250e6]);
});

test("from the middle of a gap, a time of n gaps has n requests, less or more half a gap at both ends", () => {
  assert.deepEqual(take(fromMidGap(constantArrivals(4)), 3), [125e6, 375e6, 625e6]);
  fc.assert(
    fc.property(fc.double({ min: 0.1, max: 1e5, noNaN: true }), fc.integer({ min: 1, max: 5000 }), (rate, count) => {
      const [last, next] = take(fromMidGap(constantArrivals(rate)), count + 1).slice(-2) as [number, number];
      const endNs = (count * 1e9) / rate;
      assert.ok(last < endNs - 0.49e9 / rate && next > endNs + 0.49e9 / rate, `${last}, ${endNs}, ${next}`);
    }),
  );
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

test("the rate of intervals is that of one round", () => {
  assert.equal(intervalsRatePerSec([10e6]), 100);
  assert.equal(intervalsRatePerSec([100e6, 200e6, 500e6]), 3.75);
  assert.equal(intervalsRatePerSec([2e9]), 0.5);
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

/** Distribution functions of gaps with a mean of 1, by the shape of their gamma distribution. */
const GAMMA_CDF: readonly (readonly [shape: number, cdf: (gap: number) => number])[] = [
  [0.5, (gap) => errorFunction(Math.sqrt(gap / 2))],
  [1, (gap) => 1 - Math.exp(-gap)],
  [2, (gap) => 1 - (1 + 2 * gap) * Math.exp(-2 * gap)],
  [3, (gap) => 1 - (1 + 3 * gap + (9 * gap * gap) / 2) * Math.exp(-3 * gap)],
];

/** Abramowitz and Stegun, 7.1.26: right to 1.5e-7. */
function errorFunction(x: number): number {
  const t = 1 / (1 + 0.3275911 * x);
  const terms = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  return 1 - terms.reduce((sum, term) => (sum + term) * t, 0) * Math.exp(-x * x);
}

for (const [shape, cdf] of GAMMA_CDF) {
  test(`gamma gaps of smoothness ${shape} have their distribution`, () => {
    const count = 20_000;
    const gaps = gapsOf(take(gammaArrivals(50, shape, 5489), count)).map((gap) => gap / 20e6);
    const distance = [...gaps]
      .sort((a, b) => a - b)
      .reduce((worst, gap, index) => {
        const expected = cdf(gap);
        return Math.max(worst, Math.abs(expected - index / count), Math.abs(expected - (index + 1) / count));
      }, 0);
    assert.ok(distance < 1.95 / Math.sqrt(count), `distance ${distance}`);
    const other = GAMMA_CDF.find(([one]) => one !== shape)?.[1] ?? cdf;
    assert.ok(Math.max(...gaps.map((gap) => Math.abs(other(gap) - cdf(gap)))) > 0.05, "the test can tell shapes apart");
  });
}

for (const shape of [0.05, 0.3, 0.9, 1, 1.7, 10, 400]) {
  test(`gamma gaps of smoothness ${shape} keep the rate and vary by 1 / sqrt(smoothness)`, () => {
    for (const seed of [0, 7, 123_456]) {
      const count = 40_000;
      const gaps = gapsOf(take(gammaArrivals(1000, shape, seed), count)).map((gap) => gap / 1e6);
      const mean = gaps.reduce((sum, gap) => sum + gap, 0) / count;
      const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / (count - 1);
      // Four standard errors each; a gamma distribution's excess kurtosis is 6 / shape.
      assert.ok(Math.abs(mean - 1) < 4 / Math.sqrt(shape * count), `mean ${mean}`);
      assert.ok(Math.abs(variance * shape - 1) < 4 * Math.sqrt((2 + 6 / shape) / count), `variance ${variance}`);
    }
  });
}

test("gamma gaps are never negative nor infinite, however bursty, and the same for the same seed", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 1e4, noNaN: true }), fc.integer(), (shape, seed) => {
      const times = take(gammaArrivals(10, shape, seed), 200);
      assert.ok(gapsOf(times).every((gap) => gap >= 0 && Number.isFinite(gap)));
      assert.deepEqual(take(gammaArrivals(10, shape, seed), 200), times);
    }),
  );
});

test("drawn arrivals are the same numbers on every runtime", () => {
  assert.deepEqual(take(poissonArrivals(100, 1), 3), POISSON_100_SEED_1);
  assert.deepEqual(take(gammaArrivals(100, 0.5, 1), 3), GAMMA_HALF_SEED_1);
  assert.deepEqual(take(gammaArrivals(100, 4, 1), 3), GAMMA_FOUR_SEED_1);
});

const rates = fc.double({ min: 0.5, max: 1000, noNaN: true });

test("under a ramp, the number of due requests is the integral of the rate", () => {
  fc.assert(
    fc.property(fc.oneof(fc.constant(0), rates), rates, fc.integer({ min: 1, max: 60_000 }), (from, to, overMs) => {
      const overSec = overMs / 1e3;
      const askedUntil = (sec: number): number =>
        sec < overSec
          ? from * sec + ((to - from) * sec * sec) / (2 * overSec)
          : ((from + to) / 2) * overSec + to * (sec - overSec);
      const times = take(rampArrivals(constantArrivals, to, { fromPerSec: from, overMs }), 300);
      for (const [index, time] of times.entries()) {
        const asked = askedUntil(time / 1e9);
        assert.ok(Math.abs(asked - (index + 1)) < 1e-6 * (index + 1), `${asked} for request ${index + 1}`);
      }
      assert.ok(gapsOf(times).every((gap) => gap > 0));
    }),
  );
});

test("a ramp from 0 to 10 per second in 4 s: the first request is due after one request's worth of rate, then the rate is held", () => {
  const times = take(rampArrivals(constantArrivals, 10, { fromPerSec: 0, overMs: 4000 }), 25);
  assert.ok(Math.abs((times[0] as number) - Math.sqrt(0.8) * 1e9) < 1);
  assert.ok(Math.abs((times[19] as number) - 4e9) < 1);
  for (const gap of gapsOf(times).slice(20)) assert.ok(Math.abs(gap - 100e6) < 1);
});

test("a ramp from 10 to 0 per second in 4 s is the one from 0 to 10 backwards: 20 requests, and no more", () => {
  const [rising, falling] = [
    take(rampArrivals(constantArrivals, 10, { fromPerSec: 0, overMs: 4000 }), 20),
    take(rampArrivals(constantArrivals, 0, { fromPerSec: 10, overMs: 4000 }), 22),
  ];
  for (let n = 1; n < 20; n++)
    assert.ok(Math.abs((falling[n - 1] as number) - (4e9 - (rising[19 - n] as number))) < 1, `request ${n}`);
  assert.deepEqual(falling.slice(19), [4e9, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
});

test("a ramp takes gaps of 0, also while its rate is 0", () => {
  assert.deepEqual(
    take(
      rampArrivals(() => intervalArrivals([0, 2e9]), 1, { fromPerSec: 0, overMs: 1000 }),
      3,
    ),
    [0, 2.5e9, 2.5e9],
  );
});
