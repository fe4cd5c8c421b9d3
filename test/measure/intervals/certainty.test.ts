import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { certaintyOf, isInformative } from "../../../src/measure/intervals/certainty.ts";
import { estimateMeanNs } from "../../../src/measure/intervals/mean-interval.ts";
import { estimatePercentile, REPORTED_PERCENTILES } from "../../../src/measure/intervals/percentile-interval.ts";
import { tallyOf } from "../make-window.ts";

const CASES = [
  ["an interval close to its value", { value: 100, low: 90, high: 115 }, undefined],
  ["ends of half and twice the value", { value: 100, low: 50, high: 200 }, undefined],
  ["an end below half of the value", { value: 100, low: 49, high: 110 }, "wide"],
  ["an end above twice the value", { value: 100, low: 90, high: 201 }, "wide"],
  ["the throughput of one burst", { value: 36_690, low: 0, high: 75_956 }, "wide"],
  ["no lower end", { value: 100, low: null, high: 110 }, "no-bound"],
  ["no upper end", { value: 100, low: 90, high: null }, "no-bound"],
  ["fewer independent samples than needed, whatever the interval is", few({ low: 90, high: 110 }), "few-samples"],
  ["fewer independent samples than needed, without an interval", few({ low: null, high: null }), "few-samples"],
  ["as many as needed", { ...few({ low: 90, high: 110 }), effectiveCount: 662 }, undefined],
  ["a value of 0", { value: 0, low: 0, high: 3 }, undefined],
  ["a negative value", { value: -4, low: -9, high: 1 }, undefined],
  ["a small ratio", { value: 0.001, low: 0.00003, high: 0.006, isRatio: true }, undefined],
  ["a ratio that may be anything", { value: 0.5, low: 0.1, high: 0.9, isRatio: true }, "wide"],
] as const;

function few(ends: { readonly low: number | null; readonly high: number | null }) {
  return { value: 100, ...ends, effectiveCount: 661.9, neededEffectiveCount: 662 };
}

describe("a number is certain or says why not:", () => {
  for (const [name, estimate, doubt] of CASES)
    test(name, () => {
      const { value: _, low, high } = estimate;
      const expected = doubt === undefined ? { isCertain: true, low, high } : { isCertain: false, doubt };
      assert.deepEqual(certaintyOf(estimate), expected);
      if (doubt !== "few-samples") assert.equal(isInformative(estimate), doubt === undefined);
    });
});

const latencies = fc.array(fc.oneof(fc.integer({ min: 1e3, max: 1e8 }), fc.integer({ min: 1e6, max: 2e6 })), {
  minLength: 1,
  maxLength: 1500,
});

test("estimates of any sample are reliable just when they are certain, and certain ones have both ends near the value", () => {
  fc.assert(
    fc.property(latencies, (values) => {
      const tally = tallyOf(values);
      for (const percentile of REPORTED_PERCENTILES) {
        const estimate = estimatePercentile(tally, percentile);
        const certainty = certaintyOf(estimate);
        assert.equal(estimate.isReliable, certainty.isCertain);
        const isEnough = estimate.effectiveCount >= estimate.neededEffectiveCount;
        if (!isEnough) assert.deepEqual(certainty, { isCertain: false, doubt: "few-samples" });
        if (!certainty.isCertain) continue;
        assert.ok(certainty.low >= estimate.value / 2 && certainty.high <= 2 * estimate.value);
      }
      const mean = estimateMeanNs(tally);
      const certainty = certaintyOf(mean);
      if (certainty.isCertain) assert.ok(certainty.low >= mean.value / 2 && certainty.high <= 2 * mean.value);
    }),
    { numRuns: 60 },
  );
});
