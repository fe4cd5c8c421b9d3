import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { compactBuckets, ExponentialHistogram } from "../../src/measure/exponential-histogram.ts";

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
      const [measured = Number.NaN] = histogramOf(values).quantilesSince(undefined, [wanted]) ?? [];
      assert.ok(isNear(measured, exact), `${wanted} of ${values.length}: ${measured} instead of ${exact}`);
    }),
  );
});

test("percentiles since a copy are those of the durations after it", () => {
  fc.assert(
    fc.property(durations, durations, (earlier, later) => {
      const histogram = histogramOf(earlier);
      const before = histogram.counts.slice();
      assert.equal(histogram.quantilesSince(before, [0.5]), undefined);
      for (const durationNs of later) histogram.add(durationNs);
      assert.deepEqual(
        histogram.quantilesSince(before, [0.5, 0.99]),
        histogramOf(later).quantilesSince(undefined, [0.5, 0.99]),
      );
    }),
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
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        values.length,
      );
    }),
  );
  assert.deepEqual(compactBuckets(new ExponentialHistogram(), 160).counts, []);
});

test("durations beyond the range count at its ends, and NaN is ignored", () => {
  const histogram = histogramOf([-3, 0, 1, Number.NaN, 1e15]);
  assert.deepEqual([histogram.count, histogram.counts[0], histogram.counts.at(-1)], [4, 3, 1]);
});
