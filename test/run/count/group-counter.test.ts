import assert from "node:assert/strict";
import { test } from "node:test";
import type { Measurement } from "../../../src/measure/measurement.ts";
import { WindowCutter } from "../../../src/run/conduct/window-cutter.ts";
import { groupSteps } from "../../../src/run/groups/request-groups.ts";
import { makeLevel } from "../conduct/make-level.ts";
import { starterOf } from "../send/fake-client.ts";

const ENDLESS = Number.POSITIVE_INFINITY;

/** Numbers that the groups of a window add up to. */
function sumsOf(window: Measurement): number[] {
  const { requestCount, failedCount, cancelledCount, sentCount, openBeforeCount, openAfterCount, latency } = window;
  return [
    requestCount,
    failedCount,
    cancelledCount,
    sentCount,
    openBeforeCount,
    openAfterCount,
    Math.round(latency.mean * latency.count),
  ];
}

function addUp(windows: readonly Measurement[]): number[] {
  return windows.map(sumsOf).reduce((sum, one) => sum.map((value, index) => value + (one[index] as number)));
}

test("the groups of every window add up to it, and each accounts for its requests", async () => {
  const groups = groupSteps(
    Array.from({ length: 5 }, (_, step) => ({ member: 0, tags: { n: String(step % 3) } })),
    5,
  );
  const { clock, context, driver, client } = makeLevel({ groups });
  await starterOf(driver).start({ kind: "closed", concurrency: 4 }, ENDLESS);
  await clock.advanceMs(33);
  const windows = new WindowCutter(context);
  await windows.begin(undefined);
  for (const lengthMs of [95, 30, 75]) {
    await clock.advanceMs(lengthMs);
    client.answer(client.active[0] as number, { kind: "http", status: 500, message: "busy" });
    const window = await windows.cut(clock.nowNs());
    const parts = (window.groups ?? []).map((group) => group.window);
    assert.equal(parts.length, 3);
    assert.ok(window.requestCount > 0 && window.failedCount > 0);
    assert.deepEqual(addUp(parts), sumsOf(window));
    assert.ok(Math.abs(parts.reduce((sum, { inFlightSumNs }) => sum + inFlightSumNs, 0) - window.inFlightSumNs) < 1);
    for (const { openBeforeCount, sentCount, requestCount, failedCount, openAfterCount } of parts)
      assert.equal(openBeforeCount + sentCount, requestCount + failedCount + openAfterCount);
  }
  driver.close();
});
