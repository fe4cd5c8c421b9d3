import assert from "node:assert/strict";
import { test } from "node:test";
import { mlperfRulesOf } from "../../../../src/registry/load-modes.ts";
import { makeLevel, measureLevel } from "../make-level.ts";

test("a number of requests ends with the last response", async () => {
  const { result, driver } = await measureLevel(makeLevel({ mode: { kind: "requests", count: 25 } }), 5);
  assert.deepEqual([result.outcome, result.window.requestCount, result.window.durationNs], ["measured", 25, 50e6]);
  assert.equal(driver.sentCount, 25);
});

test("a load without queries of MLPerf has no verdict of MLPerf", async () => {
  const level = makeLevel({ mode: { kind: "requests", count: 5 } });
  assert.equal(mlperfRulesOf(level.context.plan), undefined);
  assert.equal((await measureLevel(level, 1)).result.mlperf, undefined);
});
