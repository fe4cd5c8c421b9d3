import assert from "node:assert/strict";
import { test } from "node:test";
import { meanOf, nearestRank, summarizeLatency } from "../../../src/measure/mlperf/latency-statistics.ts";

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
