import assert from "node:assert/strict";
import { test } from "node:test";
import { type Extracted, ExtractedTally } from "../../../src/measure/extracted-tally.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import { judge } from "../../../src/measure/verdicts.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { toExtractedJson } from "../../../src/report/json/samples.ts";
import { formatExtracted } from "../../../src/report/rampart/extracted.ts";

function tallyOf(): Extracted[] {
  const tally = new ExtractedTally(["tokens", "label"]);
  // Not in ascending order, which would be a drift without an interval.
  for (let n = 1; n <= 10; n++) tally.add([(7 * n) % 11, n <= 7 ? "dog" : "cat"], n * 1e8);
  tally.add([null, null], 1.1e9);
  return tally.cut(0, 1.2e9);
}

test("the report lists numbers with their statistics, texts with their counts, and what is missing", () => {
  const text = formatExtracted(tallyOf());
  assert.match(text, /extracted +average +min +p50 +p90 +p99 +max +answers/);
  assert.match(text, /tokens +5\.5 +1 +5\* +9\* +10\* +10 +10\n/);
  assert.match(
    text,
    /\n {2}tokens: 10 samples, worth \d+ independent ones for the average; with 95 % confidence: average /,
  );
  assert.match(
    text,
    /\n {2}\* too few independent samples: p50 \d+ of 11, p90 \d+ of 64, p99 \d+ of 662; about [\d,]+ samples would be enough\n/,
  );
  assert.match(text, /\n {2}label: dog 7, cat 3\n/);
  assert.match(text, /\n {2}tokens: missing in 1 of 11 answers\n {2}label: missing in 1 of 11 answers$/);
});

test("the JSON report has the same, by name", () => {
  const { tokens, label } = toExtractedJson(tallyOf()) as Record<string, { numbers: Record<string, unknown> }>;
  const { confidence95, ...numbers } = tokens?.numbers ?? {};
  const tail = { "p99.9": 10, "p99.99": 10 };
  assert.deepEqual(numbers, { count: 10, mean: 5.5, min: 1, max: 10, p50: 5, p90: 9, p99: 10, ...tail });
  assert.deepEqual(Object.keys(confidence95 as object), ["mean", "p50", "p90", "p99", "p99.9", "p99.99"]);
  assert.deepEqual(label, { texts: { dog: 7, cat: 3 }, missing: 1 });
});

test("an assertion judges a statistic of extracted numbers", () => {
  const window = { extracted: tallyOf() } as unknown as Measurement;
  const verdictOf = (metric: object, comparison: AssertionPlan["comparison"], limit: number) =>
    judge({ metric: { key: "extracted", ...metric }, comparison, limit } as AssertionPlan, [{ level: 1, window }], 1);
  const average = verdictOf({ name: "tokens", statistic: "average" }, "above", 5);
  assert.deepEqual([average.state, average.measured, average.text], ["pass", 5.5, "average tokens above 5"]);
  const p90 = verdictOf({ name: "tokens", statistic: 90 }, "below", 9);
  assert.deepEqual([p90.state, p90.measured, p90.text], ["unresolved", 9, "p90 tokens below 9"]);
  assert.equal(p90.reason, "p90 needs 29 requests, has 10");
  const label = verdictOf({ name: "label", statistic: "max" }, "below", 9);
  assert.deepEqual(
    [label.state, label.measured, label.reason],
    ["unresolved", undefined, "no answer had a number there"],
  );
});
