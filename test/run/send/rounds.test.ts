import assert from "node:assert/strict";
import { test } from "node:test";
import { untilRoundEnds, untilSteady } from "../../../src/run/send/rounds.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

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

test("other loads, and loops that have stopped, have no rounds", async () => {
  const { driver } = makeRounds();
  assert.equal(await isDone(untilRoundEnds(driver, { size: undefined, startNs: 0, endedCount: 1 })), true);
  assert.equal(
    await isDone(untilRoundEnds({ ...driver, activeLanes: 0 }, { size: 4, startNs: 0, endedCount: 1 })),
    true,
  );
});

test("a load is steady when what was sent before the first end has ended", async () => {
  const { driver, waits, clock } = makeRounds();
  let openNs = [9e9, 9.5e9, 11e9];
  const steady = untilSteady(driver, () => openNs, 60e9);
  assert.equal(waits[0]?.count, 101);
  await clock.advanceMs(100);
  driver.endedCount = 101;
  waits[0]?.resolve();
  await new Promise(setImmediate);
  // Two of the three were sent before the first end at 10.1 s.
  assert.equal(waits[1]?.count, 103);
  openNs = [11e9];
  driver.endedCount = 103;
  waits[1]?.resolve();
  assert.equal(await isDone(steady), true);
});

test("a server that stalls is not waited for", async () => {
  const { driver, waits } = makeRounds();
  const steady = untilSteady(driver, () => [9e9], 10e9);
  waits[0]?.resolve();
  assert.equal(await isDone(steady), true);
});
