import assert from "node:assert/strict";
import { test } from "node:test";
import { poissonArrivals } from "../../src/load/arrivals.ts";
import { type MlperfServerLoadPlan, mlperfServerMode } from "../../src/load/mlperf-server.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";

const PLAN: MlperfServerLoadPlan = {
  kind: "mlperf-server",
  ratePerSec: 200,
  percentile: 99,
  latencyLimitMs: 15,
  seed: 3,
};

test("requests are a Poisson process at the rate, after one at the start", () => {
  const { search, drive } = prepareLoad(PLAN);
  assert.deepEqual(search.levels, { kind: "list", values: [200] });
  const made = drive(200, []);
  assert.ok(made.kind === "scheduled");
  const expected = poissonArrivals(200, 3);
  assert.deepEqual(made.due, { firstNs: 0 });
  assert.equal(made.arrivals(), 0);
  for (let index = 0; index < 100; index++) assert.equal(made.arrivals(), expected());
});

test("the rules hold the limit", () => {
  assert.deepEqual(mlperfServerMode.mlperf?.(PLAN), {
    scenario: "server",
    samplesPerQuery: 1,
    percentile: 99,
    latencyLimitMs: 15,
  });
  assert.equal(mlperfServerMode.describe(PLAN), "MLPerf server at 200 requests/s, p99 within 15 ms");
});

test("limits of tokens replace that of latency", () => {
  const { latencyLimitMs: _, ...rest } = PLAN;
  const plan: MlperfServerLoadPlan = { ...rest, tokenLimits: { timeToFirstTokenMs: 2000, timePerOutputTokenMs: 200 } };
  assert.deepEqual(mlperfServerMode.mlperf?.(plan), {
    scenario: "server",
    samplesPerQuery: 1,
    percentile: 99,
    latencyLimitMs: null,
    tokenLimits: { timeToFirstTokenMs: 2000, timePerOutputTokenMs: 200 },
  });
  assert.equal(
    mlperfServerMode.describe(plan),
    "MLPerf server at 200 requests/s, p99 TTFT within 2 s, p99 TPOT within 200 ms",
  );
});
