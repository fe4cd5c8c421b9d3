import assert from "node:assert/strict";
import { test } from "node:test";
import { RemoteSender, type SentCounts } from "../../../src/run/fleet/remote-sender.ts";

const ended = (completedCount: number): SentCounts => ({
  progress: {
    ...{ sentCount: completedCount, endedCount: completedCount, outstanding: 0, completedCount, failedCount: 0 },
    ...{ cancelledCount: 0, activeLanes: 1 },
    ...{ quota: Number.POSITIVE_INFINITY, isSending: true, lastSuccessNs: 0 },
  },
  counts: {
    ...{ sentCount: completedCount, completedCount, failedCount: 0, cancelledCount: 0 },
    ...{ outstanding: 0, openResponses: 0 },
  },
});

test("of a sender that is gone, what it had reported until then counts, whatever still comes", async () => {
  const listener = { records: () => {}, extracted: () => {}, failed: () => {}, limited: () => {}, broken: () => {} };
  const remote = new RemoteSender({ send: () => {} }, listener, ended(0));
  remote.receive({ kind: "counts", ...ended(7) });
  remote.fail(new Error("gone"));
  remote.receive({ kind: "counts", ...ended(9) });
  assert.deepEqual([remote.sender.progress(), remote.sender.counts()], [ended(7).progress, ended(7).counts]);
  await assert.rejects(remote.sender.until({ kind: "now" }), /gone/);
});
