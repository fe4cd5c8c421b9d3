import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeLevel, measureLevel } from "../make-level.ts";

describe("a duration", () => {
  test("without a grace period ends at its moment", async () => {
    const { result } = await measureLevel(makeLevel({ mode: { kind: "duration", durationMs: 995 } }), 1);
    assert.deepEqual([result.window.durationNs, result.window.requestCount], [995e6, 99]);
    assert.equal(result.timeline.length, 10);
  });

  test("with one contains the responses to what was sent within it", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 995, graceMs: 500 } });
    const { result } = await measureLevel(level, 1);
    assert.deepEqual([result.window.durationNs, result.window.requestCount], [1000e6, 100]);
  });

  test("cancels requests without a response when the grace period is over", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 995, graceMs: 500 } });
    const { result, tookMs } = await measureLevel(level, 3, async ({ clock, server }) => {
      clock.after(900, () => {
        server.latencyMs = Number.POSITIVE_INFINITY;
      });
    });
    const { requestCount, cancelledCount, failedCount, durationNs } = result.window;
    assert.deepEqual([requestCount, cancelledCount, failedCount, durationNs], [270, 3, 0, 995e6]);
    assert.ok(tookMs >= 1495 && tookMs <= 1510, `${tookMs}`);
    // The wait for what never came is not part of the level, in the window or in its time line.
    const { timeline, window } = result;
    const inFlightNs = timeline.reduce((sum, one) => sum + one.meanOutstanding * (one.endNs - one.startNs), 0);
    assert.ok(Math.abs(inFlightNs - window.inFlightSumNs) < 1, `${inFlightNs} and ${window.inFlightSumNs}`);
    assert.ok(Math.abs(inFlightNs - 3 * 995e6) < 3 * 10e6, `${inFlightNs}`);
  });
});

test("a stall of the server is dated from the start of the run", async () => {
  const level = makeLevel({ mode: { kind: "duration", durationMs: 10_000 } });
  const { result } = await measureLevel(level, 2, async ({ clock, server }) => {
    await clock.advanceMs(0);
    clock.after(4000, () => {
      server.latencyMs = 2300;
    });
    clock.after(4100, () => {
      server.latencyMs = 10;
    });
  });
  const [gap, ...others] = result.window.gaps ?? [];
  assert.deepEqual(others, []);
  // The clock starts at 50 s, and the run at 0.
  assert.ok(Math.abs((gap?.startNs ?? 0) - 54e9) < 0.1e9, `${gap?.startNs}`);
  assert.ok(Math.abs((gap?.endNs ?? 0) - 56.3e9) < 0.1e9, `${gap?.endNs}`);
  assert.ok(Math.abs((gap?.typicalNs ?? 0) - 10e6) < 2e6, `${gap?.typicalNs}`);
});
