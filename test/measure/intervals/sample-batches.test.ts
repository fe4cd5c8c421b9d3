import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { SampleBatches } from "../../../src/measure/intervals/sample-batches.ts";

function batchesOf(values: readonly number[]): SampleBatches {
  const batches = new SampleBatches();
  for (const value of values) batches.add(value);
  return batches;
}

const durations = (maxLength: number) => fc.array(fc.integer({ min: 0, max: 1e11 }), { maxLength });

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

test("batches are consecutive, equally long, and at most 127", () => {
  fc.assert(
    fc.property(durations(1500), (values) => {
      const { means, batchCount } = batchesOf(values).means();
      assert.equal(means.length, Math.floor(values.length / batchCount));
      assert.ok(means.length < 128 && (batchCount === 1 || means.length >= 64), `${means.length} of ${batchCount}`);
      for (let batch = 0; batch < means.length; batch++) {
        const expected = meanOf(values.slice(batch * batchCount, (batch + 1) * batchCount));
        assert.ok(Math.abs((means[batch] as number) - expected) <= 1e-9 * expected);
      }
    }),
  );
});

test("ratios below a duration are those of the samples, to within a cell of 3 %", () => {
  fc.assert(
    fc.property(durations(800), fc.integer({ min: 1000, max: 1e11 }), (values, limit) => {
      const { means, batchCount, variance } = batchesOf(values).ratiosBelow(limit);
      for (let batch = 0; batch < means.length; batch++) {
        const part = values.slice(batch * batchCount, (batch + 1) * batchCount);
        const ratioBelow = (ns: number): number => part.filter((value) => value < ns).length / batchCount;
        const found = means[batch] as number;
        assert.ok(found >= ratioBelow(limit * 0.96) - 1e-9 && found <= ratioBelow(limit * 1.04) + 1e-9);
      }
      assert.ok(variance >= -1e-9 && variance <= 0.25 + 1e-9, String(variance));
    }),
  );
});

test("appended batches follow in order, and none is counted twice", () => {
  fc.assert(
    fc.property(fc.array(durations(700), { maxLength: 4 }), (parts) => {
      const joined = new SampleBatches();
      for (const part of parts) joined.append(batchesOf(part));
      const { means, batchCount } = joined.means();
      assert.ok(means.length < 128);
      // What a part leaves over is less than a batch.
      const kept = parts.map((part) => part.length - (part.length % batchCount)).reduce((sum, count) => sum + count, 0);
      assert.ok(means.length * batchCount <= parts.flat().length);
      assert.ok(means.length * batchCount >= kept - batchCount * parts.length - 1);
      const { means: ratios } = joined.ratiosBelow(1e12);
      for (const ratio of ratios as Float64Array) assert.equal(ratio, 1);
    }),
  );
  const whole = batchesOf([1e6, 2e6, 3e6]);
  whole.append(batchesOf([4e6, 5e6]));
  assert.deepEqual([...(whole.means().means as Float64Array)], [1e6, 2e6, 3e6, 4e6, 5e6]);
});

test("appending changes neither the appended samples nor what follows", () => {
  const second = batchesOf([4e6, 5e6]);
  const first = batchesOf([1e6]);
  first.append(second);
  first.add(6e6);
  second.add(7e6);
  assert.deepEqual([...(first.means().means as Float64Array)], [1e6, 4e6, 5e6, 6e6]);
  assert.deepEqual([...(second.means().means as Float64Array)], [4e6, 5e6, 7e6]);
});
