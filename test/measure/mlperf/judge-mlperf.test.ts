import assert from "node:assert/strict";
import { test } from "node:test";
import type { MlperfRules } from "../../../src/load/load-mode.ts";
import { judgeMlperf } from "../../../src/measure/mlperf/judge-mlperf.ts";
import { meanOf, nearestRank, summarizeLatency } from "../../../src/measure/mlperf/latency-statistics.ts";
import type { MlperfSample } from "../../../src/measure/mlperf/mlperf-tally.ts";

/** What LoadGen has no numbers for; `loadgen.test.ts` compares the rest with it. */

const SECOND_NS = 1e9;
const RULES: MlperfRules = { scenario: "single-stream", samplesPerQuery: 1, percentile: 90, latencyLimitMs: null };

function makeSample(count: number, change: Partial<MlperfSample> = {}): MlperfSample {
  const sampleLatenciesNs = new Float64Array(count).fill(1e6);
  return {
    sampleLatenciesNs,
    queryLatenciesNs: sampleLatenciesNs,
    failedCount: 0,
    failedQueryCount: 0,
    lastDueNs: SECOND_NS,
    lastEndNs: SECOND_NS,
    ...change,
  };
}

test("a failed request makes the result invalid and counts as a query", () => {
  const required = { minQueryCount: 100, minDurationNs: 0 };
  const result = judgeMlperf(RULES, required, makeSample(99, { failedCount: 1, failedQueryCount: 1 }), 0);
  assert.deepEqual(result.broken, ["1 of 100 requests failed"]);
  assert.deepEqual([result.isValid, result.queryCount], [false, 100]);
});

test("a failed request is over the limit of the server scenario", () => {
  const rules: MlperfRules = { scenario: "server", samplesPerQuery: 1, percentile: 99, latencyLimitMs: 5 };
  const required = { minQueryCount: 700, minDurationNs: 0 };
  const good = judgeMlperf(rules, required, makeSample(700), 0);
  const failed = judgeMlperf(rules, required, makeSample(690, { failedCount: 10, failedQueryCount: 10 }), 0);
  assert.deepEqual(good.earlyStopping, { isMet: true, overCount: 0, missingCount: 0 });
  assert.ok(failed.earlyStopping !== undefined && "overCount" in failed.earlyStopping);
  assert.equal(failed.earlyStopping.overCount, 10);
  assert.equal(failed.earlyStopping.isMet, false);
});

test("all broken rules are named", () => {
  const result = judgeMlperf(RULES, { minQueryCount: 64, minDurationNs: 2 * SECOND_NS }, makeSample(10), 0);
  assert.deepEqual(result.broken, [
    "10 queries were sent, 64 are needed",
    "the run lasted 1 s, 2 s are needed",
    "early stopping needs 64 queries for p90, and 10 were sent",
  ]);
});

test("a run without a success has no latency and no rate", () => {
  const result = judgeMlperf(
    RULES,
    { minQueryCount: 1, minDurationNs: 0 },
    makeSample(0, { failedCount: 2, failedQueryCount: 2 }),
    0,
  );
  assert.deepEqual([result.latencyNs, result.target, result.samplesPerSec], [undefined, undefined, undefined]);
  assert.equal(result.isValid, false);
});

test("the offline scenario has a throughput and no percentile", () => {
  const rules: MlperfRules = { scenario: "offline", samplesPerQuery: 1, percentile: null, latencyLimitMs: null };
  const result = judgeMlperf(rules, { minQueryCount: 500, minDurationNs: SECOND_NS }, makeSample(500), 0);
  assert.deepEqual(result, {
    scenario: "offline",
    isValid: true,
    broken: [],
    queryCount: 500,
    sampleCount: 500,
    samplesPerSec: 500,
  });
});

test("a percentile is the value at index ⌊n × p⌋, and the mean is rounded down", () => {
  const sorted = Float64Array.from([1, 2, 3, 10]);
  assert.equal(nearestRank(sorted, 50), 3);
  assert.equal(nearestRank(sorted, 99), 10);
  assert.equal(meanOf(Float64Array.from([1, 2])), 1);
  assert.deepEqual(summarizeLatency(sorted), {
    latencyNs: { minNs: 1, maxNs: 10, meanNs: 4 },
    percentilesNs: { p50: 3, p90: 10, p95: 10, p97: 10, p99: 10, "p99.9": 10 },
  });
});
