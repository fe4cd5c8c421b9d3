import assert from "node:assert/strict";
import { test } from "node:test";
import { REQUEST_METRICS, type RequestMetric } from "../../src/measure/request-metrics.ts";
import { nameOfMetric, TOKEN_METRICS } from "../../src/measure/tokens/metrics.ts";

/** The table of metrics of requests. */

test("times and failures are better when low, rates when high", () => {
  for (const [name, { quantity, better }] of Object.entries<RequestMetric>(REQUEST_METRICS)) {
    if (quantity === "time") assert.equal(better, "lower", name);
    if (quantity === "rate") assert.equal(better, "higher", name);
  }
});

test("no metric has the name of a metric of tokens", () => {
  const tokens = new Set<string>(TOKEN_METRICS.map(nameOfMetric));
  assert.deepEqual(
    Object.keys(REQUEST_METRICS).filter((name) => tokens.has(name)),
    [],
  );
});
