import assert from "node:assert/strict";
import { test } from "node:test";
import { WindowCutter } from "../../../src/run/conduct/window-cutter.ts";
import { groupSteps } from "../../../src/run/groups/request-groups.ts";
import type { MemberSession } from "../../../src/run/open/session.ts";
import { makeDelta } from "../../measure/make-window.ts";
import { starterOf } from "../send/fake-client.ts";
import { makeLevel } from "./make-level.ts";

test("the counters of each member's server are those of the window, also when another server has none or fails", async () => {
  const groups = groupSteps(
    Array.from({ length: 5 }, (_, step) => ({ member: step % 3, tags: { target: "abc"[step % 3] ?? "" } })),
    5,
  );
  const { clock, context, driver } = makeLevel({ groups });
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
  const windows = new WindowCutter({ ...context, session: { ...session, members, responses: [] } });
  await windows.begin(undefined);
  await starterOf(driver).start({ kind: "closed", concurrency: 1 }, 3);
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
