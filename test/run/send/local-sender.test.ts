import assert from "node:assert/strict";
import { test } from "node:test";
import type { Share } from "../../../src/load/share.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import { openSender } from "../../../src/run/open-sending.ts";
import type { LoadSender } from "../../../src/run/send/messages.ts";
import { nowNs } from "../../../src/runtime/clock.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { type FakeClient, makeDataset, makeDriver, makeService } from "./fake-client.ts";

/** A sender that owns a share of its load. */
function makeSender(share: Share): { readonly sender: LoadSender; readonly client: FakeClient } {
  const plan = makePlan();
  const { driver, client, feed } = makeDriver();
  const session = {
    ...{ service: makeService(), dataset: makeDataset(1), warnings: [], shared: undefined },
    counters: async () => undefined,
  };
  const parts = { plan, observer: {}, load: prepareLoad(plan.load), session, feed, driver, share };
  const nothing = (): void => {};
  const listener = { records: nothing, extracted: nothing, failed: nothing, limited: nothing, broken: nothing };
  return { sender: openSender({ ...parts, canceller: undefined, tokens: undefined }, listener), client };
}

const step = (level: number) => ({ phaseIndex: 0, level, draw: 0 });

test("a sender takes its share of the concurrency and of the requests", async () => {
  const { sender, client } = makeSender({ index: 1, count: 3 });
  await sender.start(step(8), { quota: 20 });
  // 1, 4 and 7 of the lanes, and 7 of the requests: 1, 4, … 19.
  assert.equal(client.maxActive, 3);
  for (let ended = 0; ended < 7; ended++) client.answer(client.active[0] as number);
  assert.deepEqual([client.sent.length, sender.progress().quota], [7, 0]);
  await sender.until({ kind: "finished" });
  sender.change({ quota: 4 });
  assert.equal(sender.progress().quota, 1);
  sender.close();
});

test("a sender that owns nothing of a level sends nothing, waits for nothing, and finds no gap", async () => {
  const { sender, client } = makeSender({ index: 2, count: 3 });
  await sender.prepare(step(2));
  await sender.start(step(2), { quota: Number.POSITIVE_INFINITY });
  assert.equal(client.sent.length, 0);
  await sender.until({ kind: "steady", limitNs: Number.POSITIVE_INFINITY });
  await sender.until({ kind: "more-ended", count: 9 });
  await sender.until({ kind: "round-ends" });
  assert.deepEqual([(await sender.until({ kind: "now" })).activeLanes, sender.progress().quota], [0, 0]);
  await sender.beginWindow(0, { isScheduled: false, canLanesWait: false });
  assert.equal((await sender.cut(1e9)).idle, undefined);
  // The next level has a share for it.
  await sender.start(step(6), { quota: Number.POSITIVE_INFINITY });
  assert.equal(client.active.length, 2);
  sender.close();
});

test("a level settles once its connections are open", async () => {
  const { sender, client } = makeSender({ index: 0, count: 2 });
  await sender.prepare(step(5), "start");
  assert.equal(client.calls.length, 3);
  sender.close();
});

test("a sender's share of the lowest number of queries is that of the load that starts", async () => {
  const { sender, client } = makeSender({ index: 1, count: 3 });
  await sender.start(step(3), { quota: { startNs: 0, minDurationNs: 0, leastCount: 20, samplesPerQuery: 1 } });
  while (client.active.length > 0) client.answer(client.active[0] as number);
  assert.equal(client.sent.length, 7);
  sender.close();
});

test("windows of one of several senders meet at its last end, when the message to cut comes late", async () => {
  const { sender, client } = makeSender({ index: 0, count: 2 });
  await sender.start(step(2), { quota: Number.POSITIVE_INFINITY });
  const answer = (): void => client.answer(client.active[0] as number);
  answer();
  const beginNs = nowNs();
  answer();
  await sender.beginWindow(beginNs, { isScheduled: false, canLanesWait: false });
  answer();
  const cutNs = nowNs();
  answer();
  const { window } = await sender.cut(cutNs);
  const { startNs, endNs, requestCount, inFlightSumNs, durationNs } = window;
  assert.equal(requestCount, 2, "what ended before the message to begin does not count");
  assert.ok(startNs > beginNs && endNs > cutNs, `${startNs - beginNs} and ${endNs - cutNs} ns`);
  assert.ok(inFlightSumNs <= durationNs, "one lane has no more than one request in flight");
  const next = await sender.cut(nowNs());
  assert.deepEqual([next.window.startNs, next.window.requestCount], [endNs, 0]);
  sender.close();
});
