import assert from "node:assert/strict";
import { test } from "node:test";
import { openFleet } from "../../../src/run/fleet/open-fleet.ts";
import type { SentCounts } from "../../../src/run/fleet/remote-sender.ts";
import type { Seat, SeatListener } from "../../../src/run/fleet/seat.ts";
import type { ThreadEvent } from "../../../src/run/fleet/sender-thread.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { nowNs, toEpochNs, wallMs } from "../../../src/runtime/clock.ts";
import { makePlan } from "../../plan/make-plan.ts";

/** Seats on other hosts that are lost. */

const NOTHING: SentCounts = {
  progress: {
    ...{ sentCount: 0, endedCount: 0, outstanding: 0, completedCount: 0, failedCount: 0, cancelledCount: 0 },
    ...{ activeLanes: 1, quota: 0, isSending: false, lastSuccessNs: 0, longestNs: 0 },
    unsent: { count: 0, delayed: undefined },
  },
  counts: { sentCount: 0, completedCount: 0, failedCount: 0, cancelledCount: 0, outstanding: 0, openResponses: 0 },
};

/** A seat that sends nothing, and replies to each message. */
function openSeat(index: number, { event }: SeatListener): Seat {
  const reply = (one: ThreadEvent): void => queueMicrotask(() => event(one));
  const closed = { totals: { connectionCount: 0, slotCount: 0, resendCount: 0, servers: undefined }, timelines: [] };
  return {
    ...{ name: `the agent host/${index}`, host: { id: `${index}`, name: `host/${index}` } },
    post: (task) => {
      if (task.kind === "tell-time") reply({ kind: "time", id: task.id, wallMs: wallMs(), lateNs: 0 });
      if (task.kind === "open") reply({ kind: "opened", ...NOTHING });
      if (task.kind === "end") reply({ kind: "ended" });
      if (task.kind !== "handle") return;
      for (const { id } of task.messages) reply({ kind: "reply", id, value: closed, ...NOTHING });
    },
    end: async () => {},
  };
}

test("the time at which a host was last heard is that of the conductor's clock, as the start of the run is", async () => {
  const listeners: SeatListener[] = [];
  const fleet = await openFleet(makePlan({}), {
    ...{ count: 2, signal: new RunSignal(), maxOutstanding: 100, wantsRecords: false },
    elsewhere: {
      ...{ count: 2, threads: 1, allowLost: 1, isConnected: true },
      open: (index, listener) => {
        listeners.push(listener);
        return openSeat(index, listener);
      },
    },
  });
  const ignored = (): void => {};
  const listener = { records: ignored, extracted: ignored, failed: ignored, limited: ignored, broken: ignored };
  const sender = fleet.createSender(listener);
  const startNs = nowNs();
  sender.change({ run: { startNs, hasTimeline: false } });
  const heardNs = startNs + 2e9;
  listeners[1]?.gone("it was stopped", false, heardNs);
  const { hosts = [] } = (await sender.close()).totals;
  await fleet.close();
  const lost = hosts.find(({ name }) => name === "host/1")?.lost;
  assert.ok(lost !== undefined && fleet.delayNs > 0);
  // The report says when a run began by the conductor's clock.
  const startEpochNs = toEpochNs(startNs, fleet.delayNs);
  const differNs = Number(startEpochNs + BigInt(Math.round(lost.afterNs)) - toEpochNs(heardNs));
  // Both are rounded.
  assert.ok(Math.abs(differNs) <= 1, `${differNs} ns`);
});
