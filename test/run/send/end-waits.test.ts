import assert from "node:assert/strict";
import { test } from "node:test";
import { EndWaits, untilRoundEnds, untilSteady } from "../../../src/run/send/end-waits.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

/** A wait, and whether it is over. */
function begin(waits: EndWaits, outstanding: number, atMost: number): { isOver(): Promise<boolean> } {
  let isOver = false;
  void waits.untilOutstanding(outstanding, atMost).then(() => {
    isOver = true;
  });
  return { isOver: () => Promise.resolve().then(() => isOver) };
}

test("few enough requests are waited for, not fewer", async () => {
  const idle = new EndWaits();
  const wait = begin(idle, 5, 2);
  for (const [outstanding, isOver] of [
    [4, false],
    [3, false],
    [2, true],
  ] as const) {
    idle.check(outstanding, 0);
    assert.equal(await wait.isOver(), isOver, `${outstanding} outstanding`);
  }
});

test("a wait resolves immediately when few enough are outstanding", async () => {
  await new EndWaits().untilOutstanding(2, 2);
});

test("a later wait for few outstanding requests replaces an earlier one", async () => {
  const idle = new EndWaits();
  const first = begin(idle, 5, 0);
  const second = begin(idle, 5, 3);
  assert.deepEqual([await first.isOver(), await second.isOver()], [true, false]);
  idle.check(3, 0);
  assert.equal(await second.isOver(), true);
});

test("a number of ended requests is waited for, and a later wait replaces an earlier one", async () => {
  const waits = new EndWaits();
  const reached: number[] = [];
  const state = (): string => reached.join(" ");
  void waits.untilEnded(3, 5).then(() => reached.push(5));
  waits.check(1, 4);
  await Promise.resolve();
  assert.equal(state(), "");
  void waits.untilEnded(4, 6).then(() => reached.push(6));
  await Promise.resolve();
  assert.equal(state(), "5");
  waits.check(1, 7);
  await Promise.resolve();
  assert.equal(state(), "5 6");
  await waits.untilEnded(7, 7);
});

test("a wait for the finish resolves once, or when another one begins", async () => {
  const waits = new EndWaits();
  const replaced = waits.untilFinished();
  const finished = waits.untilFinished();
  await replaced;
  assert.equal(waits.isFinishAwaited, true);
  waits.finish();
  await finished;
  assert.equal(waits.isFinishAwaited, false);
});

/** A driver whose requests end when the test says so. */
function makeRounds() {
  const clock = new FakeClock({ startNs: 10e9 });
  const waits: { readonly count: number; resolve(): void }[] = [];
  const driver = {
    clock,
    endedCount: 100,
    activeLanes: 4,
    ended: { longestNs: 5e6 } as never,
    reachEnded: (count: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waits.push({ count, resolve });
      return promise;
    },
  };
  return { clock, waits, driver };
}

/** Whether a promise has settled after all microtasks. */
async function isDone(promise: Promise<void>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await new Promise(setImmediate);
  return done;
}

test("a round ends with a multiple of the requests in flight", async () => {
  const { driver, waits } = makeRounds();
  const ending = untilRoundEnds(driver, { size: 4, startNs: 9e9, endedCount: 10 });
  assert.deepEqual(
    waits.map(({ count }) => count),
    [102],
  );
  waits[0]?.resolve();
  assert.equal(await isDone(ending), true);
});

test("a round that does not end is awaited for three rounds", async () => {
  const { driver, clock } = makeRounds();
  // 10 of 4 in flight ended in 1 s: a round takes 400 ms.
  const ending = untilRoundEnds(driver, { size: 4, startNs: 9e9, endedCount: 10 });
  await clock.advanceMs(1190);
  assert.equal(await isDone(ending), false);
  await clock.advanceMs(20);
  assert.equal(await isDone(ending), true);
});

test("a round is awaited for as long as the longest request took", async () => {
  const { driver, clock } = makeRounds();
  const ending = untilRoundEnds({ ...driver, ended: { longestNs: 3e9 } }, { size: 4, startNs: 9e9, endedCount: 10 });
  await clock.advanceMs(2990);
  assert.equal(await isDone(ending), false);
  await clock.advanceMs(20);
  assert.equal(await isDone(ending), true);
});

test("other loads, and loops that have stopped, have no rounds", async () => {
  const { driver } = makeRounds();
  assert.equal(await isDone(untilRoundEnds(driver, { size: undefined, startNs: 0, endedCount: 1 })), true);
  assert.equal(
    await isDone(untilRoundEnds({ ...driver, activeLanes: 0 }, { size: 4, startNs: 0, endedCount: 1 })),
    true,
  );
});

test("a load is steady when what was sent before the first end has ended, and that took as long again", async () => {
  const { driver, waits, clock } = makeRounds();
  let openNs = [9e9, 9.5e9, 11e9];
  const steady = untilSteady(driver, () => openNs, { limitNs: 60e9, hasRounds: false });
  assert.equal(waits[0]?.count, 101);
  await clock.advanceMs(100);
  driver.endedCount = 101;
  waits[0]?.resolve();
  await new Promise(setImmediate);
  // Two of the three were sent before the first end at 10.1 s.
  assert.equal(waits[1]?.count, 103);
  openNs = [11e9];
  driver.endedCount = 103;
  await clock.advanceMs(400);
  waits[1]?.resolve();
  await new Promise(setImmediate);
  await clock.advanceMs(390);
  assert.equal(await isDone(steady), false);
  await clock.advanceMs(20);
  assert.equal(await isDone(steady), true);
});

test("a load whose latencies are alike is steady at once, also after the first response of another sender", async () => {
  const { driver, waits, clock } = makeRounds();
  const first = { beganNs: 8e9, endNs: 9.9e9 };
  // The first response came 1.9 s after the begin and 0.1 s ago; all in flight were sent since.
  const steady = untilSteady(driver, () => [9.95e9, 9.96e9], { limitNs: 60e9, first, hasRounds: false });
  assert.equal(await isDone(steady), true);
  const late = untilSteady(driver, () => [9.5e9, 9.96e9], { limitNs: 60e9, first, hasRounds: false });
  assert.equal(waits[0]?.count, 101);
  await clock.advanceMs(1);
  assert.equal(await isDone(late), false);
});

test("a server that stalls is not waited for", async () => {
  const { driver, waits } = makeRounds();
  const steady = untilSteady(driver, () => [9e9], { limitNs: 10e9, hasRounds: false });
  waits[0]?.resolve();
  assert.equal(await isDone(steady), true);
});
