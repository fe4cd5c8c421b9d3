import assert from "node:assert/strict";
import { test } from "node:test";
import { LostSenders } from "../../../src/run/fleet/lost-senders.ts";
import type { LoadSender } from "../../../src/run/send/messages.ts";

/** What windows lack of a sender that was lost. */

/** A sender that has reported these requests as ended. */
function makeSender(): { readonly sender: LoadSender; report(completedCount: number, failedCount?: number): void } {
  let counts = { completedCount: 0, failedCount: 0, cancelledCount: 0, lastSuccessNs: 0, longestNs: 0 };
  return {
    sender: { progress: () => counts } as unknown as LoadSender,
    report: (completedCount, failedCount = 0) => {
      counts = { completedCount, failedCount, cancelledCount: 1, lastSuccessNs: 5e9, longestNs: 1e9 };
    },
  };
}

test("the window that has begun lacks all that ended in it", () => {
  const lost = new LostSenders(0);
  const { sender, report } = makeSender();
  lost.beginRun(1e9);
  report(10, 2);
  lost.senderBegan(sender);
  lost.beginWindow(3e9);
  report(40, 5);
  assert.deepEqual(lost.add(sender, 7e9), { afterNs: 6e9, fromNs: 3e9, uncountedCount: 33 });
  assert.deepEqual(lost.states, [
    {
      ...{ completedCount: 40, failedCount: 5, cancelledCount: 1 },
      ...{
        sentCount: 46,
        endedCount: 46,
        outstanding: 0,
        activeLanes: 0,
        quota: 0,
        isSending: false,
        lastSuccessNs: 5e9,
        longestNs: 1e9,
        unsent: { count: 0, delayed: undefined },
      },
    },
  ]);
});

test("windows that have ended have what it sent", () => {
  const lost = new LostSenders(0);
  const { sender, report } = makeSender();
  report(10);
  lost.senderBegan(sender);
  lost.beginWindow(1e9);
  report(50);
  lost.senderBegan(sender);
  lost.beginWindow(2e9);
  assert.deepEqual(lost.add(sender, 2.5e9), { afterNs: 2.5e9, fromNs: 2e9, uncountedCount: 0 });
});

test("where nothing is measured, its share is missing from when it was last heard", () => {
  const lost = new LostSenders(0);
  const { sender, report } = makeSender();
  lost.senderBegan(sender);
  lost.beginWindow(1e9);
  lost.beginWindow(undefined);
  report(50);
  assert.deepEqual(lost.add(sender, 4e9), { afterNs: 4e9, fromNs: 4e9, uncountedCount: 0 });
});
