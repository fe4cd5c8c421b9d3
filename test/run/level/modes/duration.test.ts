import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeLevel, measureLevel } from "../make-level.ts";

describe("a duration", () => {
  test("without a grace period ends at its moment", async () => {
    const { result } = await measureLevel(makeLevel({ mode: { kind: "duration", durationMs: 995 } }), 1);
    assert.deepEqual([result.window.durationNs, result.window.requestCount], [995e6, 99]);
    assert.equal(result.timeline.length, 10);
  });

  test("with one contains the answers to what was sent within it", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 995, graceMs: 500 } });
    const { result } = await measureLevel(level, 1);
    assert.deepEqual([result.window.durationNs, result.window.requestCount], [1000e6, 100]);
  });

  test("cancels requests without an answer when the grace period is over", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 995, graceMs: 500 } });
    const { result, tookMs } = await measureLevel(level, 3, async ({ clock, server }) => {
      clock.after(900, () => {
        server.latencyMs = Number.POSITIVE_INFINITY;
      });
    });
    const { requestCount, cancelledCount, failedCount, durationNs } = result.window;
    assert.deepEqual([requestCount, cancelledCount, failedCount, durationNs], [270, 3, 0, 995e6]);
    assert.ok(tookMs >= 1495 && tookMs <= 1510, `${tookMs}`);
  });
});
