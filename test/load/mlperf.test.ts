import assert from "node:assert/strict";
import { test } from "node:test";
import type { MlperfLoadPlan } from "../../src/load/mlperf.ts";
import { mlperfMode } from "../../src/load/mlperf.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";

const CASES: readonly (readonly [plan: MlperfLoadPlan, drive: object, level: number, text: string])[] = [
  [
    { kind: "mlperf", scenario: "single-stream", percentile: 90 },
    { kind: "closed", concurrency: 1 },
    1,
    "MLPerf single stream",
  ],
  [
    { kind: "mlperf", scenario: "multi-stream", percentile: 99, samplesPerQuery: 8 },
    { kind: "groups", size: 8 },
    8,
    "MLPerf multi-stream with 8 samples per query",
  ],
  [
    { kind: "mlperf", scenario: "offline", maxOutstanding: 64 },
    { kind: "closed", concurrency: 64 },
    64,
    "MLPerf offline with 64 requests in flight",
  ],
];

for (const [plan, drive, level, text] of CASES)
  test(`${plan.scenario} keeps ${level} requests in flight`, () => {
    const { search, drive: driveAt } = prepareLoad(plan);
    assert.deepEqual(search, { unit: "concurrency", levels: { kind: "list", values: [level] }, search: "linear" });
    assert.deepEqual(driveAt(level, []), drive);
    assert.equal(mlperfMode.describe(plan), text);
  });

test("the rules say what a query is and which percentile is the result", () => {
  const rules = CASES.map(([plan]) => mlperfMode.mlperf?.(plan));
  assert.deepEqual(rules, [
    { scenario: "single-stream", samplesPerQuery: 1, percentile: 90, latencyLimitMs: null },
    { scenario: "multi-stream", samplesPerQuery: 8, percentile: 99, latencyLimitMs: null },
    { scenario: "offline", samplesPerQuery: 1, percentile: null, latencyLimitMs: null },
  ]);
});
