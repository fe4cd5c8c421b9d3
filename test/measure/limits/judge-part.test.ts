import assert from "node:assert/strict";
import { test } from "node:test";
import { judgePart } from "../../../src/measure/limits/judge-part.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { makeWindow } from "../make-window.ts";

const below = (percentile: number, limitMs: number): AssertionPlan => ({
  metric: { key: "latency", statistic: percentile },
  comparison: "below",
  limit: limitMs * 1e6,
});

test("a closed loop sends nothing in a gap, so a percentile does not pass when a user who is due at any time would see another", () => {
  const [durationMs, gapMs, latencyMs] = [30_000, 600, 1];
  const latenciesNs = new Array<number>(3000).fill(latencyMs * 1e6);
  const gaps = [{ startNs: 5e9, endNs: 5e9 + gapMs * 1e6, typicalNs: latencyMs * 1e6 }];
  const window = { ...makeWindow({ latenciesNs }), durationNs: durationMs * 1e6 };
  const stateOf = (percentile: number, limitMs: number, more: Partial<Measurement> = { gaps }): string =>
    judgePart(below(percentile, limitMs), { window: { ...window, ...more } }, 1).state;
  // The truth: one who is due each millisecond waits until the gap ends.
  const waits = Array.from({ length: durationMs }, (_, at) => latencyMs + Math.max(0, gapMs - at)).sort(
    (x, y) => x - y,
  );
  for (const percentile of [90, 95, 99])
    for (const limitMs of [25, 250, 295, 305, 350, 2000]) {
      const isShort = (waits[(percentile / 100) * durationMs] as number) < limitMs;
      assert.equal(stateOf(percentile, limitMs), isShort ? "pass" : "unresolved", `p${percentile} < ${limitMs} ms`);
    }
  assert.deepEqual([stateOf(99, 25, {}), stateOf(99, 25, { gaps, isScheduled: true })], ["pass", "pass"]);
});

test("counts and rates are judged by their value, however few there are", () => {
  const window = makeWindow({ latenciesNs: [1e6], failedCount: 1 });
  const stateOf = (metric: AssertionPlan["metric"], limit: number): string =>
    judgePart({ metric, comparison: "above", limit }, { window }, 1).state;
  assert.equal(stateOf({ key: "errorRate" }, 0.4), "pass");
  assert.equal(stateOf({ key: "errorRate" }, 0.6), "fail");
  assert.equal(stateOf({ key: "throughput" }, 0), "pass");
});
