import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { roundHalfEven, summarize } from "../../src/measure/numpy-statistics.ts";

/** Made with numpy 2.4: `a = [(i*7919%1009)/7.3 for i in range(1000)]`. */
test("statistics are numpy's to the last bit", () => {
  const values = Float64Array.from({ length: 1000 }, (_, i) => ((i * 7919) % 1009) / 7.3);
  const { min, max, ...summary } = summarize(values) ?? assert.fail();
  assert.deepEqual(summary, {
    avg: 69.13397260273973,
    std: 39.912201521428365,
    p1: 1.3684931506849314,
    p5: 6.842465753424658,
    p10: 13.82191780821918,
    p25: 34.62328767123288,
    p50: 69.24657534246575,
    p75: 103.5958904109589,
    p90: 124.26027397260275,
    p95: 131.23972602739724,
    p99: 136.713698630137,
  });
  assert.equal(min, Math.min(...values));
  assert.equal(max, Math.max(...values));
});

test("a single value is all of its statistics", () => {
  const summary = summarize(Float64Array.of(5)) ?? assert.fail();
  for (const [name, value] of Object.entries(summary)) assert.equal(value, name === "std" ? 0 : 5, name);
});

test("nothing has no statistics", () => {
  assert.equal(summarize(new Float64Array()), undefined);
});

test("statistics keep their order: percentiles ascend from the least to the greatest", () => {
  const sample = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(sample, (values) => {
      const s = summarize(Float64Array.from(values)) ?? assert.fail();
      const ascending = [s.min, s.p1, s.p5, s.p10, s.p25, s.p50, s.p75, s.p90, s.p95, s.p99, s.max];
      for (const [i, value] of ascending.entries()) if (i > 0) assert.ok(value >= (ascending[i - 1] as number));
      const naive = values.reduce((sum, value) => sum + value, 0) / values.length;
      assert.ok(Math.abs(s.avg - naive) <= 1e-9 * (1 + naive));
    }),
  );
});

test("halves are rounded to even numbers", () => {
  assert.deepEqual([0.5, 1.5, 2.5, 3.5, 2.4999, -1.5, 7].map(roundHalfEven), [0, 2, 2, 4, 2, -2, 7]);
});
