import assert from "node:assert/strict";
import { test } from "node:test";
import { judgePart } from "../../../src/measure/limits/judge-part.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { makeWindow } from "../make-window.ts";

const below = (percentile: number): AssertionPlan => ({
  metric: { key: "latency", statistic: percentile },
  comparison: "below",
  limit: 25e6,
});

test("a closed loop sends nothing in a gap, so a percentile does not pass when gaps are a larger share than its tail", () => {
  const window = makeWindow({ latenciesNs: new Array<number>(1000).fill(1e6) });
  const stateOf = (percentile: number, gapRatio: number): string =>
    judgePart(below(percentile), { window, gapRatio }, 1).state;
  assert.deepEqual([stateOf(99, 0), stateOf(99, 0.02), stateOf(90, 0.02)], ["pass", "unresolved", "pass"]);
  const scheduled = makeWindow({
    latenciesNs: new Array<number>(1000).fill(1e6),
    scheduledNs: new Array<number>(1000).fill(1e6),
  });
  assert.equal(judgePart(below(99), { window: scheduled, gapRatio: 0.02 }, 1).state, "pass");
});

test("counts and rates are judged by their value, however few there are", () => {
  const window = makeWindow({ latenciesNs: [1e6], failedCount: 1 });
  const stateOf = (metric: AssertionPlan["metric"], limit: number): string =>
    judgePart({ metric, comparison: "above", limit }, { window }, 1).state;
  assert.equal(stateOf({ key: "errorRate" }, 0.4), "pass");
  assert.equal(stateOf({ key: "errorRate" }, 0.6), "fail");
  assert.equal(stateOf({ key: "throughput" }, 0), "pass");
});
