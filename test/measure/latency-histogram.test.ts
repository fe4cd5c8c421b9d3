import assert from "node:assert/strict";
import { test } from "node:test";
import { createHistogram, recordUs } from "../../src/measure/latency-histogram.ts";

/** HDR histograms of durations. */

const HOUR_US = 3_600_000_000;

const cases: readonly (readonly [what: string, us: number, digits: 2 | 3, highestUs: number])[] = [
  ["small values are exact", 100, 2, 100],
  ["two digits are within 1 %", 123_456, 2, 123_456 * 1.01],
  ["three digits are within 0.1 %", 123_456, 3, 123_456 * 1.001],
  ["0 counts as 1 us", 0, 3, 1],
  ["a negative value counts as 1 us", -5, 3, 1],
  ["an hour is within the range", HOUR_US, 3, HOUR_US * 1.001],
  ["more than an hour counts as an hour", 5 * HOUR_US, 3, HOUR_US * 1.001],
];
for (const [what, us, digits, highestUs] of cases) {
  test(what, () => {
    const histogram = createHistogram(digits);
    recordUs(histogram, us);
    recordUs(histogram, us, 2);
    assert.equal(histogram.totalCount, 3);
    const shown = histogram.getValueAtPercentile(50);
    assert.ok(shown >= Math.min(HOUR_US, Math.max(1, us)) && shown <= highestUs, `${shown} us`);
  });
}
