import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { compactBuckets, ExponentialHistogram } from "../../src/measure/exponential-histogram.ts";
import { sum } from "../../src/plan/units.ts";

/** Histograms with exponential buckets. */

const HOUR_NS = 3.6e12;
const durations = fc.array(fc.double({ min: 1000, max: HOUR_NS, noNaN: true }), { minLength: 1, maxLength: 200 });

function histogramOf(durationsNs: readonly number[]): ExponentialHistogram {
  const histogram = new ExponentialHistogram();
  for (const durationNs of durationsNs) histogram.add(durationNs);
  return histogram;
}

function isNear(measured: number, exact: number): boolean {
  return Math.abs(measured / exact - 1) <= 0.006;
}

test("percentiles are within 0.6 % of the durations, from a microsecond to an hour", () => {
  const ratio = fc.constantFrom(0.01, 0.5, 0.9, 0.99, 1);
  fc.assert(
    fc.property(durations, ratio, (values, wanted) => {
      const sorted = values.toSorted((one, other) => one - other);
      const exact = sorted[Math.max(1, Math.ceil(wanted * values.length)) - 1] as number;
      const [measured = Number.NaN] = histogramOf(values).quantiles([wanted]) ?? [];
      assert.ok(isNear(measured, exact), `${wanted} of ${values.length}: ${measured} instead of ${exact}`);
    }),
  );
});

test("the longest durations are not below the mean of all", () => {
  fc.assert(
    fc.property(durations, (values) => {
      const histogram = histogramOf(values);
      const [longest = Number.NaN] = histogram.quantiles([1]) ?? [];
      assert.ok(longest >= histogram.meanNs, `${longest} ${histogram.meanNs}`);
    }),
  );
});

test("histograms add up, and come back from their text", () => {
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const sum = histogramOf(some);
      sum.addAll(histogramOf(others));
      const all = histogramOf([...some, ...others]);
      const read = ExponentialHistogram.parse(String(all));
      for (const one of [sum, read]) {
        assert.equal(String(one), String(all));
        const [found, expected] = [one, all].map((each) => each.quantiles([0.5, 0.99]) ?? []) as [number[], number[]];
        assert.ok(
          found.every((value, at) => isNear(value, expected[at] as number)),
          `${found} ${expected}`,
        );
        assert.ok(isNear(one.meanNs, all.meanNs));
      }
    }),
  );
  assert.deepEqual(
    [String(new ExponentialHistogram()), ExponentialHistogram.parse("").quantiles([0.5])],
    ["", undefined],
  );
});

test("the text names buckets by their bounds, as the schema says", () => {
  const text = String(histogramOf([0.9e9, 1.001e9, 1.001e9, 2e9]));
  const buckets = text.split(",").map((one) => one.split(":").map(Number) as [number, number]);
  const bounds = buckets.map(([index, count]) => [2 ** (index / 64) < count / count, count]);
  assert.deepEqual(bounds, [
    [true, 1],
    [false, 2],
    [false, 1],
  ]);
  // Bucket 63 is up to 2 s.
  assert.deepEqual(
    buckets.map(([index]) => index),
    [Math.ceil(Math.log2(0.9) * 64) - 1, 0, 63],
  );
});

test("each duration is in the bucket whose bounds enclose it, whatever the scale", () => {
  fc.assert(
    fc.property(fc.double({ min: 1000, max: HOUR_NS, noNaN: true }), (durationNs) => {
      const { scale, offset, counts } = compactBuckets(histogramOf([durationNs]), 160);
      assert.deepEqual(counts, [1]);
      const boundSec = (index: number): number => 2 ** (index / 2 ** scale);
      // Logarithms are rounded at the bounds.
      assert.ok(boundSec(offset) <= (durationNs / 1e9) * (1 + 1e-12));
      assert.ok(boundSec(offset + 1) >= (durationNs / 1e9) * (1 - 1e-12));
    }),
  );
});

test("compact buckets hold every duration, and are no more than allowed", () => {
  fc.assert(
    fc.property(durations, fc.integer({ min: 2, max: 300 }), (values, atMost) => {
      const { counts } = compactBuckets(histogramOf(values), atMost);
      assert.ok(counts.length <= atMost);
      assert.equal(sum(counts), values.length);
    }),
  );
  assert.deepEqual(compactBuckets(new ExponentialHistogram(), 160).counts, []);
});

test("durations beyond the range count at its ends, and NaN is ignored", () => {
  const histogram = histogramOf([-3, 0, 1, Number.NaN, 1e15]);
  assert.deepEqual([histogram.count, histogram.counts[0], histogram.counts.at(-1)], [4, 3, 1]);
  assert.ok(ExponentialHistogram.parse("-999999999:1,999999999:2").counts.length <= histogram.counts.length);
});
