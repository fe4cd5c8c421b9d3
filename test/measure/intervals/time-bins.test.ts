import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import {
  addBins,
  batchesOf,
  batchRatiosBelow,
  binLengthFor,
  binMeans,
  type SampleBins,
  SHORTEST_BIN_NS,
  wholeBins,
} from "../../../src/measure/intervals/time-bins.ts";
import { completionBins, completionsAt, sketchAt } from "../make-window.ts";

const MS = 1e6;
const durations = (maxLength: number) => fc.array(fc.integer({ min: 0, max: 1e11 }), { minLength: 1, maxLength });
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Values that end a millisecond after each other. */
function binsOf(values: readonly number[], startNs = 0): SampleBins {
  const endsNs = values.map((_, at) => startNs + at * MS);
  return sketchAt(values, endsNs, startNs, startNs + values.length * MS).bins as SampleBins;
}

test("bins have the same grid in all measurements of a time, and there are at most 128", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e15 }), fc.integer({ min: 0, max: 2e12 }), (startNs, lengthNs) => {
      const binNs = binLengthFor(startNs, startNs + lengthNs);
      assert.ok(Number.isInteger(Math.log2(binNs / SHORTEST_BIN_NS)));
      const { first, counts, coveredNs } = completionsAt([startNs], startNs, startNs + lengthNs);
      assert.deepEqual([first, sumOf(counts)], [Math.floor(startNs / binNs), 1]);
      assert.ok(counts.length <= 128 && (binNs === SHORTEST_BIN_NS || counts.length >= 64), String(counts.length));
      assert.equal(Math.round(sumOf(coveredNs)), lengthNs);
    }),
  );
});

test("each bin has its values, in order of time", () => {
  fc.assert(
    fc.property(durations(1500), (values) => {
      const bins = binsOf(values);
      for (const { startNs, count, mean } of binMeans(bins)) {
        const within = values.filter((_, at) => at * MS >= startNs && at * MS < startNs + bins.binNs);
        assert.equal(count, within.length);
        assert.ok(Math.abs(mean - sumOf(within) / count) <= 1e-9 * mean);
      }
      assert.equal(sumOf(binMeans(bins).map(({ count }) => count)), values.length);
    }),
  );
});

describe("batches", () => {
  test("of bins with one value each are the values", () => {
    const { means, batchCount } = batchesOf(binsOf([5, 3, 8]));
    assert.deepEqual([Array.from(means), batchCount], [[5, 3, 8], 1]);
  });

  test("of bins of any size have the mean of all values", () => {
    fc.assert(
      fc.property(durations(1500), (values) => {
        const { means, batchCount } = batchesOf(binsOf(values));
        const [mean, expected] = [sumOf(Array.from(means)) / means.length, sumOf(values) / values.length];
        assert.ok(Math.abs(mean - expected) <= 1e-6 * expected, `${mean} instead of ${expected}`);
        assert.ok(Math.abs(batchCount * means.length - values.length) < 1e-6);
      }),
    );
  });

  test("a bin counts by its number of values: one of twice as many at the mean changes nothing", () => {
    const { means } = batchesOf({ counts: [1, 0, 4, 1], sums: [1, 0, 8, 3] });
    assert.deepEqual(Array.from(means), [1.5, 2, 2.5]);
  });

  test("ratios below a value are those of the values, to within a cell of 3 %", () => {
    fc.assert(
      fc.property(durations(800), fc.integer({ min: 1000, max: 1e11 }), (values, limit) => {
        const { means, variance } = batchRatiosBelow(binsOf(values), limit);
        const ratioBelow = (ns: number): number => values.filter((value) => value < ns).length / values.length;
        const found = sumOf(Array.from(means)) / means.length;
        assert.ok(found >= ratioBelow(limit * 0.96) - 1e-9 && found <= ratioBelow(limit * 1.04) + 1e-9);
        assert.ok(variance >= -1e-9 && variance <= 0.25 + 1e-9, String(variance));
      }),
    );
  });
});

describe("bins add up", () => {
  test("whatever their lengths and times, in any order", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(durations(300), fc.integer({ min: 0, max: 1e10 })), { minLength: 1 }), (parts) => {
        const all = parts.map(([values, startNs]) => binsOf(values, startNs));
        const sum = addBins(all, "sum") as SampleBins;
        assert.ok(sum.counts.length <= 128);
        assert.equal(sumOf(sum.counts), sumOf(parts.map(([values]) => values.length)));
        assert.equal(sumOf(Object.values(sum.histogram).flat()), sumOf(sum.counts));
        const total = sumOf(parts.flatMap(([values]) => values));
        assert.ok(Math.abs(sumOf([...sum.sums]) - total) <= 1e-9 * total);
        const back = addBins(all.toReversed(), "sum") as SampleBins;
        assert.deepEqual([back.first, back.counts, back.histogram], [sum.first, sum.counts, sum.histogram]);
      }),
    );
    assert.equal(addBins([], "sum"), undefined);
  });

  test("windows one after the other cover the sum, parallel parts what all of them cover", () => {
    const [early, late] = [completionBins(2, [1, 2, 3]), completionBins(2, [5], { first: 4, failed: [1] })];
    assert.deepEqual(addBins([early, late], "sum"), {
      ...{ binNs: 2, first: 0, counts: [1, 2, 3, 0, 5] },
      ...{ coveredNs: [2, 2, 2, 0, 2], failed: [0, 0, 0, 0, 1] },
    });
    assert.deepEqual(wholeBins(addBins([early, late], "sum") as typeof early, 1).counts, [1, 2, 3, 5]);
    const shorter = completionBins(2, [10, 20]);
    assert.deepEqual(wholeBins(addBins([early, shorter], "least") as typeof early, 1).counts, [11, 22]);
  });
});
