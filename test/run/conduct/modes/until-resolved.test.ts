import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AssertionPlan } from "../../../../src/plan/assertions.ts";
import type { MeasurementModePlan } from "../../../../src/plan/plan.ts";
import { makeLevel, measureLevel } from "../make-level.ts";

const mode: MeasurementModePlan = { kind: "until-resolved", windowMs: 1000, maxMs: 10_000, withinRatio: 0.1 };
const median = (limitMs: number): AssertionPlan => ({
  metric: { key: "latency", statistic: 50 },
  comparison: "below",
  limit: limitMs * 1e6,
});

describe("until the limits are resolved", () => {
  test("measures two windows when the limit is far away, and merges them", async () => {
    for (const [limitMs, state] of [
      [50, "kept"],
      [1, "broken"],
    ] as const) {
      const { result, tookMs } = await measureLevel(makeLevel({ mode, limits: [median(limitMs)] }), 2);
      assert.deepEqual([result.outcome, result.trials, result.limits?.state], ["measured", 2, state]);
      assert.deepEqual([result.window.durationNs, tookMs], [2e9, 2000]);
      assert.ok(Math.abs(result.window.requestCount - 400) <= 2, `${result.window.requestCount}`);
    }
  });

  test("reports windows without a response as they occur", async () => {
    const empty: number[] = [];
    const level = makeLevel({ mode, limits: [median(50)], observer: { onEmptyWindow: (trial) => empty.push(trial) } });
    level.server.latencyMs = Number.POSITIVE_INFINITY;
    const { result } = await measureLevel(level, 1);
    assert.deepEqual([result.limits?.state, empty], ["unresolved", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]);
  });

  test("ends with the run, with the measurements so far", async () => {
    const { result } = await measureLevel(makeLevel({ mode, limits: [median(50)] }), 1, async ({ clock, signal }) => {
      clock.after(1500, () => signal.interrupt());
    });
    assert.equal(result.outcome, "partial");
    assert.ok(Math.abs(result.window.requestCount - 150) <= 1, `${result.window.requestCount}`);
  });
});
