import assert from "node:assert/strict";
import { test } from "node:test";
import { type SessionFeed, sessionsOf } from "../../../src/run/send/session-feed.ts";
import { Call } from "../../../src/transport/client.ts";
import { makeSessionFeed } from "./make-sessions.ts";

/** Sends the slot's turn and judges its response. */
function turn(feed: SessionFeed, slot: number, answer: number, failure?: Call["failure"]): readonly number[] {
  const { payload } = feed.next(0, 0, slot);
  const call = Object.assign(new Call(slot), { body: Uint8Array.of(answer), endNs: 77, failure });
  const slots = { steps: [] as number[], sequences: [] as number[] };
  slots.steps[slot] = feed.step;
  slots.sequences[slot] = slot;
  feed.follow((judged) => judged.failure)(call, slots as never);
  return [...(payload as Uint8Array)];
}

test("a slot holds one session after the other, each turn with the responses so far", () => {
  const feed = makeSessionFeed(2, 1);
  assert.equal(feed.turnCount, 3);
  assert.equal(feed.begin(0), true);
  assert.deepEqual(turn(feed, 0, 10), [0]);
  assert.equal(feed.advance(0), "ready");
  assert.deepEqual(turn(feed, 0, 11), [1, 10]);
  assert.equal(feed.advance(0), "over");
  assert.equal(feed.begin(0), true);
  assert.deepEqual(turn(feed, 0, 12), [2], "another session knows nothing of the first");
  assert.equal(feed.begin(0), false, "none is left");
  assert.deepEqual(feed.tally, { sessionCount: 2, cutCount: 0, unsentCount: 0 });
});

test("slots hold separate sessions", () => {
  const feed = makeSessionFeed(2, 2);
  for (const slot of [0, 1]) feed.begin(slot);
  assert.deepEqual([turn(feed, 1, 20), turn(feed, 0, 10)], [[2], [0]]);
  for (const slot of [0, 1]) feed.advance(slot);
  assert.deepEqual(
    [turn(feed, 0, 11), turn(feed, 1, 21)],
    [
      [1, 10],
      [3, 20],
    ],
  );
});

test("the outcome of each turn is reported with its time", () => {
  const feed = makeSessionFeed(1, 1, 1);
  const told: unknown[] = [];
  feed.listen((...outcome) => told.push(outcome));
  for (const slot of [0, 1]) feed.begin(slot);
  turn(feed, 1, 5);
  turn(feed, 0, 5, { kind: "closed", message: "gone" });
  feed.begin(0);
  const call = Object.assign(new Call(0), { endNs: 88 });
  feed.next(0, 0, 0);
  feed.follow(() => ({ kind: "model", message: "no memory" }))(call, { steps: [feed.step], sequences: [0] } as never);
  assert.deepEqual(told, [
    [1, "answered", 77],
    [0, "lost", 77],
    [0, "refused", 88],
  ]);
});

test("an unreadable response ends a session; its unsent turns are counted", () => {
  const feed = makeSessionFeed(4);
  feed.begin(0);
  turn(feed, 0, 63);
  assert.equal(feed.advance(0), "unreadable");
  assert.equal(feed.cut(0), 3);
  assert.deepEqual(feed.tally, { sessionCount: 1, cutCount: 1, unsentCount: 3, unreadReason: "unreadable" });
});

test("a turn is judged as it was sent, with its session and its delay, also when the same turn is in flight twice", () => {
  const feed = makeSessionFeed(2);
  assert.equal(feed.begin(0, true), true);
  turn(feed, 0, 9);
  feed.advance(0);
  assert.equal(feed.begin(1, true), true);
  turn(feed, 1, 8);
  feed.advance(1);
  for (const slot of [0, 1]) feed.next(0, 0, slot);
  const contents = [1, 0].map((slot) => {
    let content: unknown;
    const call = Object.assign(new Call(slot), { endNs: 88 });
    const slots = { steps: [feed.step, feed.step], sequences: [0, 1] };
    const read = (): undefined => {
      content = feed.contentOf(feed.step);
    };
    feed.follow(read)(call, slots as never);
    return content;
  });
  const session = { id: "s0", delayMs: undefined };
  assert.deepEqual(contents, [
    { bytes: Uint8Array.of(1, 8), session },
    { bytes: Uint8Array.of(1, 9), session },
  ]);
});

test("sessions begin again, as often as they are asked for", () => {
  const feed = makeSessionFeed(1, 1);
  for (let slot = 0; slot < 5; slot++) assert.equal(feed.begin(slot, true), true);
  assert.equal(feed.begin(5), false);
  assert.equal(feed.tally.sessionCount, 5);
});

test("only a feed of sessions is one", () => {
  const feed = makeSessionFeed(1);
  assert.equal(sessionsOf(feed), feed);
  assert.equal(sessionsOf(undefined), undefined);
});
