import assert from "node:assert/strict";
import { test } from "node:test";
import { type Extracted, ExtractedTally } from "../../../src/measure/extracted-tally.ts";
import { REPORTED_PERCENTILES } from "../../../src/measure/intervals/percentile-interval.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import { judge } from "../../../src/measure/verdicts.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { toExtractedJson } from "../../../src/report/json/metrics.ts";

function tallyOf(): Extracted[] {
  const tally = new ExtractedTally([{ name: "tokens" }, { name: "label" }]);
  // Not in ascending order, which would be a drift without an interval.
  for (let n = 1; n <= 10; n++) tally.add([(7 * n) % 11, n <= 7 ? "dog" : "cat"], n * 1e8);
  tally.add([null, null], 1.1e9);
  return tally.cut(0, 1.2e9);
}

test("the JSON report has the numbers and texts by name", () => {
  const { tokens, label } = toExtractedJson(tallyOf()) as Record<string, { numbers: Record<string, unknown> }>;
  const { confidence95, ...numbers } = tokens?.numbers ?? {};
  const { deviation, ...statistics } = numbers;
  assert.equal(Number((deviation as number).toFixed(3)), 3.028);
  const tail = { p95: 10, p99: 10, "p99.9": 10, "p99.99": 10 };
  assert.deepEqual(statistics, {
    count: 10,
    mean: 5.5,
    min: 1,
    max: 10,
    p1: 1,
    p5: 1,
    p10: 2,
    p25: 3,
    p50: 6,
    p75: 8,
    p90: 9,
    ...tail,
  });
  assert.deepEqual(Object.keys(confidence95 as object), [
    "mean",
    ...REPORTED_PERCENTILES.map((percentile) => `p${percentile}`),
  ]);
  assert.deepEqual(label, { texts: { dog: 7, cat: 3 }, missing: 1 });
});

test("an assertion judges a statistic of extracted numbers", () => {
  const window = { extracted: tallyOf() } as unknown as Measurement;
  const verdictOf = (metric: object, comparison: AssertionPlan["comparison"], limit: number) =>
    judge({ metric: { key: "extracted", ...metric }, comparison, limit } as AssertionPlan, [{ level: 1, window }], 1);
  const mean = verdictOf({ name: "tokens", statistic: "mean" }, "above", 5);
  assert.deepEqual([mean.state, mean.measured, mean.text], ["pass", 5.5, "mean tokens > 5"]);
  const p90 = verdictOf({ name: "tokens", statistic: 90 }, "below", 9);
  assert.deepEqual([p90.state, p90.measured, p90.text], ["unresolved", 9, "p90 tokens < 9"]);
  assert.equal(p90.reason, "p90 needs 29 requests, has 10");
  const label = verdictOf({ name: "label", statistic: "max" }, "below", 9);
  assert.deepEqual([label.state, label.measured, typeof label.reason], ["unresolved", undefined, "string"]);
});
