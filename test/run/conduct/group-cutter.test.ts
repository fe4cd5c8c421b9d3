import assert from "node:assert/strict";
import { test } from "node:test";
import type { Measurement } from "../../../src/measure/measurement.ts";
import { WindowCutter } from "../../../src/run/conduct/window-cutter.ts";
import { groupSteps } from "../../../src/run/groups/request-groups.ts";
import type { MemberSession } from "../../../src/run/open/session.ts";
import { makeDelta } from "../../measure/make-window.ts";
import { makeLevel } from "./make-level.ts";

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
  const { clock, context, meter, driver, client } = makeLevel({ groups });
  await driver.start({ kind: "closed", concurrency: 4 }, ENDLESS);
  await clock.advanceMs(33);
  const windows = new WindowCutter({ ...context, groups }, meter);
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

test("the counters of each member's server are those of the window, also when another server has none or fails", async () => {
  const groups = groupSteps(
    Array.from({ length: 5 }, (_, step) => ({ member: step % 3, tags: { target: "abc"[step % 3] ?? "" } })),
    5,
  );
  const { clock, context, meter, driver } = makeLevel({ groups });
  const { session, plan } = context;
  assert.ok(session.members === undefined);
  let count = 5;
  let isAway = false;
  const { name } = session.service.model;
  const memberOf = (member: string, counters: MemberSession["session"]["counters"]): MemberSession => ({
    ...{ name: member, plan },
    session: { ...session, counters },
  });
  const members = [
    memberOf("a", async () => [makeDelta(count, { name, version: "1" })]),
    memberOf("b", async () => undefined),
    memberOf("c", async () => {
      if (isAway) throw new Error("away");
      return [makeDelta(1, { name, version: "1" })];
    }),
  ];
  const windows = new WindowCutter({ ...context, groups, session: { ...session, members, answers: [] } }, meter);
  await windows.begin(undefined);
  await driver.start({ kind: "closed", concurrency: 1 }, 3);
  await clock.advanceMs(50);
  count += 7;
  isAway = true;
  const { memberServers = {} } = await windows.cut(clock.nowNs());
  assert.deepEqual(Object.keys(memberServers), ["a"]);
  assert.deepEqual(
    [memberServers["a"]?.successCount, memberServers["b"], memberServers["c"]],
    [7, undefined, undefined],
  );
  driver.close();
});
