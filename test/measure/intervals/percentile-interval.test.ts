import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { leastAbove } from "../../../src/measure/intervals/least-above.ts";
import { estimateMeanNs } from "../../../src/measure/intervals/mean-interval.ts";
import {
  estimatePercentile,
  percentileRanks,
  REPORTED_PERCENTILES,
  samplesNeeded,
} from "../../../src/measure/intervals/percentile-interval.ts";
import { type Sketch, valueAtRank } from "../../../src/measure/sketch.ts";
import { createRandom, type Random } from "../../../src/runtime/random.ts";
import { sketchAt, tallyOf } from "../make-window.ts";
import { drawNormal, drawTallies, endsOf, type Process, percentileNs } from "./simulate.ts";

// Ranks from 1. Those of the median are in the tables of Dixon and Massey; all follow from sums of binomial terms.
const RANKS = [
  [5, 50, undefined, undefined],
  [6, 50, 1, 6],
  [10, 50, 2, 9],
  [20, 50, 6, 15],
  [50, 50, 18, 33],
  [100, 50, 40, 61],
  [35, 90, 28, undefined],
  [36, 90, 29, 36],
  [100, 90, 84, 96],
  [367, 99, 359, undefined],
  [368, 99, 360, 368],
  [36, 10, 1, 8],
] as const;
for (const [count, percentile, low, high] of RANKS)
  test(`p${percentile} of ${count} samples lies between ranks ${low ?? "none"} and ${high ?? "none"}`, () => {
    const ranks = percentileRanks(count, percentile);
    assert.deepEqual(
      [(ranks.low ?? Number.NaN) + 1, (ranks.high ?? Number.NaN) + 1],
      [low ?? Number.NaN, high ?? Number.NaN],
    );
  });

test("each side of the ranks is missed with at most 2.5 %, and the next ranks inwards miss more", () => {
  // Sums of binomial terms, by hand.
  const atMost = (successes: number, trials: number, ratio: number): number => {
    let term = (1 - ratio) ** trials;
    let sum = 0;
    for (let count = 0; count <= successes; count++) {
      sum += term;
      term *= ((trials - count) / (count + 1)) * (ratio / (1 - ratio));
    }
    return sum;
  };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 140 }), fc.integer({ min: 1, max: 99 }), (count, percentile) => {
      const ratio = percentile / 100;
      const { low = -1, high = count } = percentileRanks(count, percentile);
      // Rank r (from 0) is above the percentile when at most r samples are below it.
      assert.ok(atMost(low, count, ratio) <= 0.025 + 1e-9 || low === -1, "low");
      assert.ok(atMost(low + 1, count, ratio) > 0.025 - 1e-9, "next low");
      assert.ok(1 - atMost(high, count, ratio) <= 0.025 + 1e-9 || high === count, "high");
      if (high > 0) assert.ok(1 - atMost(high - 1, count, ratio) > 0.025 - 1e-9, "next high");
    }),
  );
});

test("a smaller effective size never narrows the interval", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.double({ min: 0.001, max: 1, noNaN: true }),
      fc.constantFrom(...REPORTED_PERCENTILES),
      (count, share, percentile) => {
        const whole = percentileRanks(count, percentile);
        const part = percentileRanks(count, percentile, Math.max(1, count * share));
        // By one rank at most, as both are moved to whole ranks.
        assert.ok((part.low ?? -1) <= (whole.low ?? -1) + 1, "low");
        assert.ok((part.high ?? count) >= (whole.high ?? count) - 1, "high");
      },
    ),
  );
});

test("the floors are those of MLPerf's early stopping, and hold for any percentile", () => {
  assert.deepEqual([90, 99, 99.9, 99.99].map(samplesNeeded), [64, 662, 6636, 66_381]);
  assert.deepEqual([10, 1].map(samplesNeeded), [64, 662]);
  assert.deepEqual([50, 75, 95].map(samplesNeeded), [11, 24, 130]);
  // The same in whole numbers, without a rounding error: (q - 1)^(n - 1) (q - 1 + n) / q^n is above 1/100, or not.
  for (const [oneIn, needed] of [
    [10n, 64n],
    [100n, 662n],
    [1000n, 6636n],
  ] as const) {
    const isTooFew = (count: bigint): boolean =>
      100n * (oneIn - 1n) ** (count - 1n) * (oneIn - 1n + count) > oneIn ** count;
    assert.deepEqual([isTooFew(needed - 1n), isTooFew(needed)], [true, false], `1 in ${oneIn}`);
  }
  for (const percentile of [50, 75, 90, 95, 97.5, 99]) {
    const beyond = 1 - percentile / 100;
    const isTooFew = (count: number): boolean =>
      (1 - beyond) ** count + count * beyond * (1 - beyond) ** (count - 1) > 0.01;
    const needed = samplesNeeded(percentile);
    assert.deepEqual([isTooFew(needed - 1), isTooFew(needed)], [true, false], `p${percentile}`);
  }
});

test("an estimate lies in its interval, which has the resolution of the tally", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5e9 }), { minLength: 1, maxLength: 400 }),
      fc.constantFrom(...REPORTED_PERCENTILES),
      (latenciesNs, percentile) => {
        const { value, low, high, effectiveCount, neededEffectiveCount, neededCount, isReliable } = estimatePercentile(
          tallyOf(latenciesNs),
          percentile,
        );
        assert.ok((low ?? value) <= value && value <= (high ?? value));
        assert.ok(effectiveCount >= 1 && effectiveCount <= latenciesNs.length);
        if (isReliable) assert.ok(effectiveCount >= neededEffectiveCount);
        assert.ok(neededCount >= samplesNeeded(percentile));
        if (isReliable) assert.ok(neededCount <= latenciesNs.length);
      },
    ),
  );
  const same = estimatePercentile(tallyOf(new Array<number>(1000).fill(1_000_900)), 50);
  assert.deepEqual([same.low, same.value, same.high], [1_000_000, 1_000_000, 1_000_900]);
  const spread = estimatePercentile(tallyOf([...new Array<number>(999).fill(1_000_900), 9e6]), 50);
  assert.deepEqual([spread.low, spread.value, spread.high], [1_000_000, 1_000_000, 1_001_000]);
});

const COVERED: readonly (Process & { readonly least: number })[] = [
  { name: "independent", count: 1000, correlation: 0, batch: 1, least: 0.93 },
  { name: "few", count: 100, correlation: 0, batch: 1, least: 0.93 },
  { name: "correlated", count: 4000, correlation: 0.8, batch: 1, least: 0.9 },
  { name: "in batches of 8", count: 4000, correlation: 0, batch: 8, least: 0.9 },
  { name: "strongly correlated", count: 10_000, correlation: 0.99, batch: 1, least: 0.93 },
];
for (const process of COVERED)
  test(`intervals of 95 % contain the true percentile, latencies ${process.name}`, () => {
    const tallies = drawTallies(process, 250);
    for (const percentile of [50, 90, 99, 99.9]) {
      const trueNs = percentileNs(percentile);
      const covering = tallies.filter((tally) => {
        const { low, high } = estimatePercentile(tally, percentile);
        return (low ?? 0) <= trueNs && trueNs <= (high ?? Number.POSITIVE_INFINITY);
      });
      const ratio = covering.length / tallies.length;
      // p99.9 of so few independent samples is marked as too few, and its interval covers less.
      const least = percentile > 99 ? Math.min(0.9, process.least) : process.least;
      assert.ok(ratio >= least, `p${percentile}: ${ratio}`);
      // Not by being far too wide: exact ranks cover more only where few samples lie beyond them.
      if (process.count * (1 - percentile / 100) > 100 * process.batch)
        assert.ok(ratio < 0.996, `p${percentile}: ${ratio}`);
    }
  });

/**
 * Latencies whose level moves slowly by a few percent, and each of which varies by less. That is what 800 requests to a steady server on a busy
 * machine are like. @param tau requests after which little is left of the level
 */
function drawMoving(count: number, tau: number, random: Random): Float64Array {
  const kept = Math.exp(-1 / tau);
  let level = drawNormal(random);
  return Float64Array.from({ length: count }, () => {
    level = kept * level + Math.sqrt(1 - kept ** 2) * drawNormal(random);
    return 2.3e6 * (1 + 0.03 * level) + 5e4 * drawNormal(random);
  });
}

function movingTallies(count: number, tau: number): Sketch[] {
  const random = createRandom(5);
  return Array.from({ length: 200 }, () => {
    const latencies = drawMoving(count, tau, random);
    const endsNs = endsOf(latencies);
    return sketchAt(latencies, endsNs, 123_456_789, endsNs.at(-1) as number);
  });
}

for (const [count, tau, least] of [
  [800, 100, 0.9],
  [3000, 100, 0.9],
  [3000, 400, 0.9],
] as const)
  test(`${count} latencies whose level moves by 3 % within ${tau} requests have a certain p50 and p90, which contain the truth`, () => {
    const deviation = Math.hypot(0.03 * 2.3e6, 5e4);
    const tallies = movingTallies(count, tau);
    for (const [percentile, quantile] of [
      [50, 0],
      [90, 1.281551566],
    ] as const) {
      const trueNs = 2.3e6 + quantile * deviation;
      const sure = tallies.map((tally) => estimatePercentile(tally, percentile)).filter(({ isReliable }) => isReliable);
      const covering = sure.filter(({ low, high }) => (low as number) <= trueNs && trueNs <= (high as number));
      assert.ok(sure.length >= 0.95 * tallies.length, `p${percentile}: ${sure.length} certain`);
      assert.ok(covering.length >= least * sure.length, `p${percentile}: ${covering.length} of ${sure.length}`);
    }
  });

for (const [count, correlation, percentile] of [
  [50, 0.99, 50],
  [300, 0.99, 50],
  [300, 0.99, 90],
  [1000, 0.99, 90],
  [100, 0.9, 50],
  [300, 0.9, 90],
] as const)
  test(`of ${count} latencies with a correlation of ${correlation}, a certain p${percentile} contains the truth`, () => {
    const tallies = drawTallies({ name: "", count, correlation, batch: 1 }, 250);
    const trueNs = percentileNs(percentile);
    const sure = tallies.map((tally) => estimatePercentile(tally, percentile)).filter(({ isReliable }) => isReliable);
    const covering = sure.filter(({ low, high }) => (low as number) <= trueNs && trueNs <= (high as number));
    assert.ok(sure.length >= 0.5 * tallies.length, `${sure.length} certain`);
    assert.ok(covering.length >= 0.9 * sure.length, `${covering.length} of ${sure.length}`);
  });

test("a percentile whose parts are far apart is not certain, and neither is one that is judged at more than 95 %", () => {
  const rising = tallyOf(Float64Array.from({ length: 800 }, (_, index) => 1e6 * (1 + index / 800)));
  const { low, high, isReliable } = estimatePercentile(rising, 50);
  assert.deepEqual([low, high, isReliable], [null, null, false]);
  const [moving] = movingTallies(800, 400) as [Sketch];
  assert.equal(estimatePercentile(moving, 50).isReliable, true);
  assert.equal(estimatePercentile(moving, 50, { confidence: 0.99 }).isReliable, false);
});

test("no interval of many independent latencies reaches below the fastest one", () => {
  const random = createRandom(11);
  // A server of at least 30 ms with a tail that comes and goes: what moves are the slow ones.
  let cutCount = 0;
  for (let run = 0; run < 50; run++) {
    let level = 0;
    const latencies = Float64Array.from({ length: 800 }, () => {
      level = 0.9 * level + 0.43 * drawNormal(random);
      return 30e6 + 3e6 * Math.exp(2 * level) * -Math.log(random());
    });
    const endsNs = endsOf(latencies);
    const sketch = sketchAt(latencies, endsNs, 123_456_789, endsNs.at(-1) as number);
    const leastNs = sketch.min;
    const percentiles = REPORTED_PERCENTILES.filter((percentile) => percentile >= 50);
    for (const { low, effectiveCount } of [
      ...percentiles.map((percentile) => estimatePercentile(sketch, percentile)),
      estimateMeanNs(sketch),
    ])
      if (low !== null && effectiveCount >= 8) {
        // A tally has microseconds.
        assert.ok(low > leastNs - 1001, `${low} below ${leastNs}`);
        if (low === leastNs) cutCount++;
      }
  }
  assert.ok(cutCount > 0);
});

test("intervals that ignore correlation would not", () => {
  const tallies = drawTallies({ name: "correlated", count: 4000, correlation: 0.8, batch: 1 }, 250);
  const trueNs = percentileNs(50);
  const covering = tallies.filter((tally) => {
    const { low = 0, high = 0 } = percentileRanks(tally.count, 50);
    return valueAtRank(tally, low) <= trueNs && trueNs <= valueAtRank(tally, high) + 1000;
  });
  assert.ok(covering.length / tallies.length < 0.75, String(covering.length / tallies.length));
});

test("the least number at which a statement holds is found, whatever it is, and the upper end is not asked about", () => {
  for (let least = 1; least <= 40; least++) {
    const asked: number[] = [];
    const holds = (value: number): boolean => {
      asked.push(value);
      return value >= least;
    };
    assert.equal(leastAbove(0, 40, holds), least);
    assert.ok(asked.every((value) => value > 0 && value < 40));
    assert.ok(asked.length <= 6, `${asked.length} questions`);
  }
});
