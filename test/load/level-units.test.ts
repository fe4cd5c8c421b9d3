import assert from "node:assert/strict";
import { test } from "node:test";
import { LEVEL_UNITS } from "../../src/load/level-units.ts";

/** How levels are named where their unit says enough. */

test("a level is named in Rampart's words and in perf_analyzer's", () => {
  const { concurrency, "request-rate": rate } = LEVEL_UNITS;
  assert.deepEqual(
    [concurrency.describe(4), concurrency.announce("4"), concurrency.describeLimit("8")],
    ["concurrency 4", "Request concurrency: 4", "Concurrency limit: 8 concurrent requests"],
  );
  assert.deepEqual(
    [rate.describe(12_345.6), rate.announce("1e+06"), rate.describeLimit("0.5")],
    [
      "12,346 requests/s",
      "Request Rate: 1e+06 inference requests per second",
      "Request Rate limit: 0.5 requests per seconds",
    ],
  );
});
