import assert from "node:assert/strict";
import { test } from "node:test";
import { estimatePercentile } from "../../../src/measure/intervals/percentile-interval.ts";
import { DurationTally } from "../../../src/measure/tally/duration-tally.ts";

test("only the durations that are named are added, to the microsecond, below a second and above", () => {
  const tally = new DurationTally();
  tally.addAll(Float64Array.from([1999, 3_000_000_001, 5e9, 7]), 3);
  tally.addAll(Float64Array.from([1000]), 0);
  tally.addAll(Float64Array.from([2_000_000_500, 1000]), 2);
  const { count, min, max, values, upTo, bins } = tally.toSketch();
  assert.deepEqual([count, tally.count, min, max, bins], [5, 5, 1000, 5e9, undefined]);
  assert.deepEqual(
    [values, upTo],
    [
      [1000, 2_000_000_000, 3_000_000_000, 5e9],
      [2, 3, 4, 5],
    ],
  );
});

test("memory is bounded: very many different durations above a second are kept to four digits, those below to the microsecond", () => {
  const tally = new DurationTally();
  const batch = new Float64Array(1000);
  // A multiplicative congruential generator of full period, so that 400,000 durations from 1.1 to 101 s are all different.
  let state = 1;
  const sorted: number[] = [];
  for (let round = 0; round < 400; round++) {
    for (let at = 0; at < batch.length; at++) {
      state = (state * 48_271) % 2_147_483_647;
      batch[at] = (1.1e6 + (state % 100_000_000)) * 1000;
      sorted.push(batch[at] as number);
    }
    tally.addAll(batch, batch.length);
  }
  tally.addAll(Float64Array.from([123_456_789]), 1);
  const sketch = tally.toSketch();
  assert.ok(sketch.values.length < 20_000, `${sketch.values.length} different durations`);
  assert.deepEqual([sketch.count, sketch.digits, sketch.min, sketch.values[0]], [400_001, 4, 123_456_789, 123_456_000]);
  const mean = (sorted.reduce((sum, ns) => sum + ns, 0) + 123_456_789) / 400_001;
  assert.ok(Math.abs(sketch.mean / mean - 1) < 1e-9, "the mean is exact");
  sorted.sort((a, b) => a - b);
  for (const percentile of [50, 90, 99, 99.9]) {
    const exactNs = sorted[Math.floor((percentile / 100) * (sorted.length - 1) + 0.5)] as number;
    const { value, low, high } = estimatePercentile(sketch, percentile);
    assert.ok(Math.abs(value - exactNs) <= 0.0006 * exactNs, `p${percentile} is ${value} ns, not ${exactNs} ns`);
    assert.ok((low ?? 0) <= exactNs && exactNs <= (high ?? Number.POSITIVE_INFINITY), `p${percentile}`);
  }
});
