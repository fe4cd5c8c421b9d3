import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BurstSharing } from "../../../src/run/send/burst-sharing.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { type DriverUnderTest, makeDataset, makeDriver, makeService, starterOf } from "./fake-client.ts";

const ENDLESS = Number.POSITIVE_INFINITY;
const closed = (concurrency: number) => ({ kind: "closed", concurrency }) as const;

test("a ramp follows its concurrency over time, looking every 20 ms", async () => {
  const clock = new FakeClock({ startNs: 3e9 });
  const { driver, client } = makeDriver({ clock });
  const concurrencyAt = (elapsedNs: number): number => 1 + Math.floor(elapsedNs / 30e6);
  await starterOf(driver).start({ kind: "ramp", maxConcurrency: 5, concurrencyAt }, ENDLESS);
  const reached: number[] = [client.active.length];
  for (let look = 0; look < 5; look++) {
    await clock.advanceMs(20);
    reached.push(client.active.length);
  }
  assert.deepEqual(reached, [1, 1, 2, 3, 3, 4]);
  client.answer(2);
  assert.equal(client.active.length, 4, "what is answered is followed by another");
  const stopped = driver.stop();
  for (const slot of client.active) client.answer(slot);
  await stopped;
  await clock.advanceMs(100);
  assert.deepEqual([client.active.length, clock.timerCount], [0, 0]);
  driver.close();
});

test("a ramp that falls sends no more on the slots above it", async () => {
  const clock = new FakeClock();
  const { driver, client } = makeDriver({ clock });
  await starterOf(driver).start(
    { kind: "ramp", maxConcurrency: 3, concurrencyAt: (ns) => (ns < 10e6 ? 3 : 1) },
    ENDLESS,
  );
  await clock.advanceMs(20);
  for (const slot of [2, 1, 0]) client.answer(slot);
  assert.deepEqual(client.active, [0]);
  driver.close();
});

test("a ramp sends every step of the data once before any comes again", async () => {
  const clock = new FakeClock();
  const feed = new RequestFeed(makeService(), makeDataset(8), { usesIds: false });
  const { driver, client } = makeDriver({ clock, feed });
  await starterOf(driver).start({ kind: "ramp", maxConcurrency: 3, concurrencyAt: (ns) => (ns < 10e6 ? 1 : 3) }, 8);
  client.answer(0);
  await clock.advanceMs(20);
  assert.equal(client.active.length, 3);
  while (client.active.length > 0) client.answer(client.active[0] as number);
  await driver.finished();
  const steps = client.sent.map(({ request }) => (request.payload as Uint8Array)[0]);
  assert.deepEqual(steps, [0, 1, 2, 3, 4, 5, 6, 7]);
  driver.close();
});

describe("where reads come first", () => {
  /** Each request takes the client 0.1 ms, so that 32 of them fill more than a slice of a millisecond. */
  function makeSlow(): DriverUnderTest & { readonly clock: FakeClock } {
    const clock = new FakeClock();
    const made = makeDriver({ clock, readsFirst: true });
    made.driver.sharing = new BurstSharing(() => clock.spendMs(0.1), { nowNs: () => 0, cpuNs: () => 0 });
    return { ...made, clock };
  }

  test("the next requests leave after all that has arrived is read, and none after a stop", async () => {
    const clock = new FakeClock();
    const { driver, client } = makeDriver({ clock, readsFirst: true });
    await starterOf(driver).start(closed(3), ENDLESS);
    client.answer(0);
    client.answer(2);
    assert.deepEqual([client.active, client.sent.length, driver.outstanding], [[1], 3, 1]);
    clock.turn();
    assert.deepEqual([client.active, client.sent.length], [[0, 1, 2], 5]);
    client.answer(1);
    const stopped = driver.stop();
    client.answer(0);
    client.answer(2);
    await stopped;
    clock.turn();
    assert.deepEqual([client.active, client.sent.length], [[], 5]);
    // The same slots can go on later, each once.
    await starterOf(driver).start(closed(2), ENDLESS);
    assert.deepEqual([client.active, client.sent.length], [[0, 1], 7]);
    driver.close();
  });

  test("many requests are sent in slices of a millisecond or 32, with reads in between", async () => {
    const { driver, client, clock } = makeSlow();
    await starterOf(driver).start(closed(100), ENDLESS);
    assert.equal(client.sent.length, 32);
    client.answer(0);
    const counts: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      clock.turn();
      counts.push(client.sent.length);
    }
    assert.deepEqual(counts, [64, 96, 101]);
    const slots = client.sent.map(({ slot }) => slot);
    assert.deepEqual(slots, [...Array(100).keys(), 0], "the slot that is free again waits for its turn");
    driver.close();
  });

  test("a stop drops requests that wait for the next slice", async () => {
    const { driver, client, clock } = makeSlow();
    await starterOf(driver).start(closed(100), ENDLESS);
    const stopped = driver.stop();
    for (const slot of client.active) client.answer(slot);
    await stopped;
    clock.turn();
    assert.equal(client.sent.length, 32);
    driver.close();
  });

  test("a quota ends the run after its last request", async () => {
    const { driver, client, clock } = makeSlow();
    await starterOf(driver).start(closed(2), 3);
    client.answer(0);
    client.answer(1);
    clock.turn();
    assert.deepEqual([client.sent.length, client.active.length], [3, 1]);
    client.answer(client.active[0] as number);
    await clock.advanceMs(1);
    await driver.finished();
    assert.equal(driver.ended.completedCount, 3);
    driver.close();
  });
});
