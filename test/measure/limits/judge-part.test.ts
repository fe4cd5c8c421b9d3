import assert from "node:assert/strict";
import { test } from "node:test";
import { judgePart } from "../../../src/measure/limits/judge-part.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { makeWindow } from "../make-window.ts";

const below = (percentile: number): AssertionPlan => ({
  metric: { key: "latency", statistic: percentile },
  comparison: "below",
  limit: 25e6,
});

test("a closed loop sends nothing in a gap, so a percentile does not pass when gaps are a larger share than its tail", () => {
  const latenciesNs = new Array<number>(1000).fill(1e6);
  const window = makeWindow({ latenciesNs });
  const gaps = [{ startNs: 5e9, endNs: 5.02e9, typicalNs: 1e6 }];
  const stateOf = (percentile: number, more: Partial<Measurement> = {}): string =>
    judgePart(below(percentile), { window: { ...window, ...more } }, 1).state;
  assert.deepEqual([stateOf(99), stateOf(99, { gaps }), stateOf(90, { gaps })], ["pass", "unresolved", "pass"]);
  assert.equal(stateOf(99, { gaps, isScheduled: true }), "pass");
});

test("counts and rates are judged by their value, however few there are", () => {
  const window = makeWindow({ latenciesNs: [1e6], failedCount: 1 });
  const stateOf = (metric: AssertionPlan["metric"], limit: number): string =>
    judgePart({ metric, comparison: "above", limit }, { window }, 1).state;
  assert.equal(stateOf({ key: "errorRate" }, 0.4), "pass");
  assert.equal(stateOf({ key: "errorRate" }, 0.6), "fail");
  assert.equal(stateOf({ key: "throughput" }, 0), "pass");
});
