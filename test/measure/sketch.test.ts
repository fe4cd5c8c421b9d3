import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  countAbove,
  deviationOf,
  effectiveCountAt,
  effectiveCountOf,
  forEachValue,
  joinSketches,
  lowestMeanOf,
  percentileUs,
  roundingRatio,
  type Sketch,
  shapeOfSketch,
  sumOfValues,
  valueAtRank,
} from "../../src/measure/sketch.ts";
import { NumberTally } from "../../src/measure/tally/number-tally.ts";
import { createRandom } from "../../src/runtime/random.ts";
import { sketchWithoutTimes, tallyOf } from "./make-window.ts";

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
      assert.equal(percentileUs(tallyOf(values), percentile), naivePercentileUs(values, percentile));
    }),
  );
});

test("every rank is exactly that of the sorted list", () => {
  fc.assert(
    fc.property(latencies, (values) => {
      const tally = tallyOf(values);
      const sorted = values.map((value) => Math.floor(value / 1000)).sort((a, b) => a - b);
      assert.deepEqual(
        sorted.map((_, rank) => valueAtRank(tally, rank) / 1000),
        sorted,
      );
      assert.throws(() => valueAtRank(tally, sorted.length), RangeError);
    }),
  );
});

test("percentiles of known samples are perf_analyzer's", () => {
  const hundred = tallyOf(Array.from({ length: 100 }, (_, index) => (index + 1) * 1000));
  assert.deepEqual(
    [50, 90, 95, 99].map((percentile) => percentileUs(hundred, percentile)),
    [51, 90, 95, 99],
  );
  assert.equal(percentileUs(tallyOf([7999]), 99), 7);
  assert.deepEqual([percentileUs(tallyOf([1000, 2000]), 49), percentileUs(tallyOf([1000, 2000]), 50)], [1, 2]);
});

test("mean, deviation, smallest and largest are those of the list", () => {
  fc.assert(
    fc.property(latencies, (values) => {
      const tally = tallyOf(values);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const largest = Math.max(...values);
      assert.equal(tally.count, values.length);
      assert.deepEqual([tally.min, tally.max], [Math.min(...values), largest]);
      isClose(tally.mean, mean, largest);
      isClose(sumOfValues(tally), mean * values.length, largest * values.length);
      if (values.length < 2) assert.equal(deviationOf(tally), undefined);
      else isClose(deviationOf(tally), Math.sqrt(squares / (values.length - 1)), largest * 1e3);
    }),
  );
});

test("the deviation survives a large offset", () => {
  const offset = 3600e9;
  const deviation = deviationOf(tallyOf([1, 2, 3, 4].map((value) => offset + value * 1000))) as number;
  assert.ok(Math.abs(deviation - 1290.9944) < 0.01, String(deviation));
});

test("joined sketches are that of all values", () => {
  fc.assert(
    fc.property(fc.array(fc.array(latencyNs, { maxLength: 50 }), { maxLength: 5 }), (parts) => {
      const joined = joinSketches(parts.map((part) => tallyOf(part)));
      const all = parts.flat();
      const whole = tallyOf(all);
      assert.deepEqual([joined.count, joined.min, joined.max], [whole.count, whole.min, whole.max]);
      assert.deepEqual([joined.values, joined.upTo], [whole.values, whole.upTo]);
      isClose(joined.mean, whole.mean, whole.max);
      if (all.length > 1) isClose(deviationOf(joined), deviationOf(whole) as number, whole.max * 1e3);
    }),
  );
});

test("samples of too many numbers are rounded as the whole is, in any order and grouping, with the stated error", () => {
  const random = createRandom(11);
  const sketchOf = (values: readonly number[]): Sketch => {
    const tally = new NumberTally();
    for (const [at, value] of values.entries()) tally.add(value, at);
    return tally.cut(0, 40_000);
  };
  // Exact, exact, rounded because it has more numbers than are kept, and exact.
  const parts = [100, 12_000, 20_000, 7_900].map((count) =>
    Array.from({ length: count }, () => 10 ** (6 + 4 * random())),
  );
  const values = parts.flat().sort((a, b) => a - b);
  const whole = sketchOf(values);
  const [a, b, c, d] = parts.map(sketchOf) as [Sketch, Sketch, Sketch, Sketch];
  assert.deepEqual(
    [a, b, c, d, joinSketches([a, d]), joinSketches([b, d])].map(({ digits }) => digits),
    [undefined, undefined, 4, undefined, undefined, 4],
  );
  const joined = [
    joinSketches([a, b, c, d]),
    joinSketches([d, c, b, a]),
    joinSketches([joinSketches([a, b]), joinSketches([c, d])]),
    joinSketches([joinSketches([b, d]), joinSketches([a, c])]),
    joinSketches([a, joinSketches([b, joinSketches([d, c])])]),
  ];
  for (const one of joined) {
    for (const field of ["count", "min", "max", "step", "digits", "values", "upTo"] as const)
      assert.deepEqual(one[field], whole[field], field);
    isClose(one.mean, whole.mean, whole.max);
    isClose(deviationOf(one), deviationOf(whole) as number, whole.max);
    for (const rank of [0, 1000, 20_000, 39_000, 39_999]) {
      const [found, exact] = [valueAtRank(one, rank), values[rank] as number];
      assert.ok(Math.abs(found - exact) <= roundingRatio(one) * exact * (1 + 1e-9), `${found}, not ${exact}`);
    }
  }
});

test("an empty sketch has no values", () => {
  const sketch = tallyOf([]);
  assert.deepEqual([sketch.count, sketch.min, sketch.max, sketch.mean], [0, 0, 0, 0]);
  assert.throws(() => percentileUs(sketch, 50), RangeError);
});

test("each value is visited with its count, in whole microseconds", () => {
  const seen: [number, number][] = [];
  forEachValue(tallyOf([1500, 5e9, 1999, 3000, 5e9, 4e9]), (value, count) => {
    seen.push([value, count]);
  });
  assert.deepEqual(seen, [
    [1000, 2],
    [3000, 1],
    [4e9, 1],
    [5e9, 2],
  ]);
});

test("values above a limit are counted, with those that equal it or without", () => {
  const sketch = tallyOf([1e6, 2e6, 2e6, 3e6]);
  assert.deepEqual(
    [0, 1e6, 2e6, 2.5e6, 3e6].map((limit) => [
      countAbove(sketch, limit, false).aboveCount,
      countAbove(sketch, limit, true).aboveCount,
    ]),
    [
      [4, 4],
      [3, 4],
      [1, 3],
      [1, 1],
      [0, 1],
    ],
  );
});

test("values that drift have an effective size below their number, and never below 1", () => {
  const steps = Array.from({ length: 4000 }, (_, index) => (1 + Math.floor(index / 1000)) * 1e6);
  const mixed = steps.map((_, index) => (1 + ((index * 1_103_515_245) % 4)) * 1e6);
  const effective = effectiveCountOf(tallyOf(steps));
  assert.ok(effective < 20 && effective >= 1, String(effective));
  assert.equal(effectiveCountOf(tallyOf(mixed)), 4000);
  assert.equal(effectiveCountOf(tallyOf(new Array<number>(500).fill(2e6))), 500);
  assert.deepEqual([effectiveCountOf(tallyOf([])), effectiveCountAt(tallyOf([1e6]), 99)], [0, 1]);
});

test("the shape is that of the bins of time, and is not known for a few values", () => {
  const rising = tallyOf(Array.from({ length: 1000 }, (_, index) => 1e6 + 1e3 * index));
  const shape = shapeOfSketch(rising);
  assert.ok(shape.kind === "drift" && Math.abs(shape.ratio - 1.9 / 1.1 + 1) < 0.02, JSON.stringify(shape));
  const lowest = lowestMeanOf(rising) ?? 0;
  assert.ok(lowest >= 1e6 && lowest < 1.01e6, String(lowest));
  const few = tallyOf([1e6, 2e6, 3e6, 4e6]);
  assert.deepEqual([shapeOfSketch(few), lowestMeanOf(few)], [{ kind: "steady" }, undefined]);
});

test("without times every value counts as independent", () => {
  const sketch = sketchWithoutTimes(Array.from({ length: 400 }, (_, index) => Math.floor(index / 100) * 1e6));
  assert.deepEqual(
    [effectiveCountOf(sketch), effectiveCountAt(sketch, 99), shapeOfSketch(sketch), lowestMeanOf(sketch)],
    [400, 400, { kind: "steady" }, undefined],
  );
});
