import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DataStep, NO_TENSORS } from "../../../src/inputs/dataset.ts";
import { SessionFeed, sessionsOf } from "../../../src/run/send/session-feed.ts";
import type { Payload } from "../../../src/service/content.ts";
import { Call } from "../../../src/transport/call.ts";
import { makeService } from "./fake-client.ts";
import { makeSessionFeed, makeSessions, openConversation } from "./make-sessions.ts";

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

test("a turn that is judged failed after its session has continued ends it before the next turn", () => {
  for (const isSent of [true, false]) {
    const feed = makeSessionFeed(4, 1);
    feed.begin(0);
    feed.next(0, 0, 0);
    const call = Object.assign(new Call(0), { body: Uint8Array.of(1), endNs: 7 });
    const slots = { steps: [feed.step], sequences: [0] } as never;
    feed.continueUndecided(call, slots);
    assert.equal(feed.advance(0), "ready");
    if (isSent) feed.next(0, 0, 0);
    assert.equal(feed.hasFailed(0), false);
    feed.follow(() => ({ kind: "model", message: "cut" }))(call, slots);
    assert.equal(feed.hasFailed(0), true);
    if (isSent) assert.equal(feed.advance(0), "unreadable");
    assert.equal(feed.cut(0), isSent ? 2 : 3);
    assert.equal(feed.begin(0), true);
    assert.equal(feed.hasFailed(0), false, "the next session is another one");
  }
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
});

test("a session counts from its first request on, and one of the data that is never held does not count", () => {
  const feed = makeSessionFeed(2, 2, 2, 2);
  for (const slot of [0, 1]) feed.begin(slot);
  assert.equal(feed.tally.sessionCount, 0);
  turn(feed, 0, 10);
  feed.advance(0);
  turn(feed, 0, 11);
  assert.equal(feed.tally.sessionCount, 1);
  turn(feed, 1, 20);
  assert.equal(feed.tally.sessionCount, 2);
});

test("only a feed of sessions is one", () => {
  const feed = makeSessionFeed(1);
  assert.equal(sessionsOf(feed), feed);
  assert.equal(sessionsOf(undefined), undefined);
});

describe("users", () => {
  const step = (name: string, more: Partial<DataStep> = {}): DataStep => ({
    payload: new TextEncoder().encode(name),
    inputs: NO_TENSORS,
    expected: NO_TENSORS,
    origin: name,
    ...more,
  });

  /** Each user logs in once; a login without a token has failed. */
  function makeFeed(turns: readonly DataStep[]): SessionFeed {
    const loggedIn = new Set<number>();
    const dataset = { streams: [turns, turns], isFromJson: true, warnings: [] };
    return new SessionFeed(makeService(), dataset, (user) => ({
      nextRequest: ({ bytes }) => ({ bytes: Uint8Array.of(...bytes, 48 + user), shown: bytes }),
      skips: ({ origin }) => origin === "login" && loggedIn.has(user),
      takeValues: ([body]) => {
        if (body?.[0] === 63) return "no token";
        loggedIn.add(user);
        return undefined;
      },
      endTurn: (failure) => ({ ...failure, message: "hidden" }),
      addResponse: () => undefined,
    }));
  }

  /** Sends the slot's turn and judges its response by what its conversation says. Returns what was sent. */
  function send(feed: SessionFeed, slot: number, answer: number): string {
    const { payload } = feed.next(0, 0, slot);
    const call = Object.assign(new Call(slot), { body: Uint8Array.of(answer), endNs: 1 });
    const slots = { steps: [] as number[], sequences: [] as number[] };
    slots.steps[slot] = feed.step;
    slots.sequences[slot] = slot;
    feed.follow((judged) => {
      assert.deepEqual(
        (feed.contentOf(feed.step) as Payload).bytes,
        payload.slice(0, -1),
        "exports have what is shown",
      );
      const failure = feed.takeValues(judged);
      return failure && feed.failTurn(failure);
    })(call, slots as never);
    return new TextDecoder().decode(payload);
  }

  test("leave out a turn that they have sent in an earlier session, which counts as one turn less", () => {
    const feed = makeFeed([step("login"), step("call")]);
    const skipped: number[] = [];
    feed.listen(
      () => {},
      (count) => skipped.push(count),
    );
    assert.equal(feed.begin(3), true);
    assert.equal(send(feed, 3, 1), "login3");
    assert.equal(feed.advance(3), "ready");
    assert.equal(send(feed, 3, 1), "call3");
    assert.equal(feed.advance(3), "over");
    assert.equal(feed.begin(3), true);
    assert.equal(send(feed, 3, 1), "call3");
    assert.equal(feed.advance(3), "over");
    assert.deepEqual(skipped, [1]);
  });

  test("fail a turn whose response lacks what the next ones need", () => {
    const feed = makeFeed([step("login"), step("call"), step("call")]);
    const outcomes: string[] = [];
    feed.listen((_slot, outcome) => outcomes.push(outcome));
    feed.begin(0);
    send(feed, 0, 63);
    assert.deepEqual(outcomes, ["refused"]);
    assert.equal(feed.cut(0), 2);
    feed.begin(0, true);
    assert.equal(send(feed, 0, 1), "login0", "it is sent again");
  });

  test("think as long as their own draws say, also after their last turn", () => {
    const turns = [step("a", { thinkTime: { meanMs: 100, stddevMs: 30 } }), step("b", { delayMs: 7 })];
    const delays = (feed: SessionFeed, slot: number): number[] => {
      feed.begin(slot, true);
      return [feed.delayNs(slot), feed.delayNs(slot)];
    };
    const [one, other] = [makeFeed(turns), makeFeed(turns)];
    assert.deepEqual(delays(one, 0), delays(other, 0));
    assert.notDeepEqual(delays(one, 1), delays(one, 2));
    assert.ok(delays(one, 0).every((delayNs) => delayNs >= 0));
    assert.equal(one.restsAtEnd(0), true);
    send(one, 0, 1);
    one.advance(0);
    assert.equal(one.restsAtEnd(0), false);
    assert.equal(one.delayNs(0), 7e6);
  });
});

test("sessions that arrive are of users in turn, whichever slots are free and whoever sends them", () => {
  const usersOf = (index: number, count: number, slots: readonly number[]): number[] => {
    const users: number[] = [];
    const open = (user: number) => {
      users.push(user);
      return openConversation();
    };
    const data = { ...makeSessions(1, 1, 1, 1, 1, 1, 1, 1), userCount: 3 };
    const feed = new SessionFeed(makeService(), data, open, { senders: { index, count } });
    for (const slot of slots) assert.ok(feed.begin(slot, false, true));
    assert.equal(feed.begin(0, false, true), false);
    return users;
  };
  assert.deepEqual(usersOf(0, 1, [0, 0, 0, 1, 0, 2, 1, 0]), [0, 1, 2, 0, 1, 2, 0, 1]);
  assert.deepEqual(usersOf(0, 2, [0, 0, 1, 0]), [0, 2, 1, 0]);
  assert.deepEqual(usersOf(1, 2, [0, 0, 0, 1]), [1, 0, 2, 1]);
});
