import assert from "node:assert/strict";
import { test } from "node:test";
import { constantArrivals } from "../../../src/load/arrivals.ts";
import { RECORD_DELAYED } from "../../../src/measure/records.ts";
import { SendSlice } from "../../../src/run/send/send-slice.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { type DriverUnderTest, makeDriver, scheduled, starterOf } from "./fake-client.ts";

/** Requests that are due at given times, on a clock whose time the test sets. */

const ENDLESS = Number.POSITIVE_INFINITY;

interface Scheduled extends DriverUnderTest {
  readonly clock: FakeClock;
  /** When each request left, in milliseconds since the start. */
  sentMs(): number[];
}

function makeScheduled(laneCount: number, isSync: boolean, hasFineWaits = true): Scheduled {
  const startNs = 7e9;
  const clock = new FakeClock({ startNs, hasFineWaits });
  const made = makeDriver({ laneCount, isSync, clock });
  return { ...made, clock, sentMs: () => made.client.sent.map(({ atNs }) => (atNs - startNs) / 1e6) };
}

test("requests leave at the moments at which they are due, by lanes in turn, whatever is outstanding", async () => {
  const { driver, client, clock, sentMs } = makeScheduled(2, false);
  await starterOf(driver).start(scheduled(5, 6, 25), 3);
  await clock.advanceMs(100);
  assert.deepEqual(sentMs(), [5, 6, 25]);
  assert.deepEqual(
    client.sent.map(({ slot }) => slot % 2),
    [0, 1, 0],
  );
  assert.equal(client.maxActive, 3);
  for (const slot of client.active) client.answer(slot);
  await driver.finished();
  driver.close();
});

test("of many lanes 4,096 have their connections before the start, and others when they send", async () => {
  const laneCount = 9000;
  const { driver, client, clock } = makeScheduled(laneCount, true);
  const counts: number[] = [];
  const reserve = client.reserve.bind(client);
  client.reserve = (count) => {
    counts.push(count);
    return reserve(count);
  };
  const arrivals = { kind: "scheduled", arrivals: constantArrivals(100_000) } as const;
  await starterOf(driver).start(arrivals, 4097);
  await clock.advanceMs(50);
  assert.equal(client.sent.length, 4097);
  assert.deepEqual(counts, [4096, 8192]);
  driver.close();
});

for (const isSync of [false, true])
  test(`after a standstill over its end a schedule sends nothing, however much is due: ${isSync ? "a lane that waits" : "a free lane"}`, async () => {
    const { driver, client, clock, sentMs } = makeScheduled(1, isSync);
    await starterOf(driver).start(scheduled(5, 6, 25), ENDLESS, { endNs: clock.nowNs() + 20e6 });
    await clock.advanceMs(5);
    // The client stands still until after the end.
    clock.spendMs(130);
    for (const slot of client.active) client.answer(slot);
    await clock.advanceMs(100);
    assert.deepEqual(sentMs(), [5]);
    assert.equal(driver.load.takeUnsent?.(clock.nowNs() - 215e6), 1, "due at 6 ms");
    driver.close();
  });

for (const [requestCount, hasFineWaits] of [
  [1000, true],
  [20, false],
] as const)
  test(`a rate of 1,000/s is kept, ${hasFineWaits ? "with" : "without"} fine waits`, async () => {
    const { driver, client, clock, sentMs } = makeScheduled(4, false, hasFineWaits);
    await starterOf(driver).start({ kind: "scheduled", arrivals: constantArrivals(1000) }, ENDLESS);
    for (let ms = 0; ms < requestCount; ms++) {
      await clock.advanceMs(1);
      for (const slot of client.active) client.answer(slot);
    }
    const sent = sentMs();
    assert.equal(sent.length, requestCount);
    for (const [index, ms] of sent.entries()) {
      const lateMs = ms - (sent[0] as number) - index;
      // Without fine waits the event loop turns until the moment has come, here once a microsecond.
      assert.ok(lateMs > -1e-6 && lateMs <= 0.0021, `request ${index} is ${lateMs} ms late`);
    }
    driver.close();
  });

test("a synchronous lane waits for its response, then catches up and marks late requests", async () => {
  const { driver, client, clock, sentMs, flags } = makeScheduled(1, true);
  await starterOf(driver).start(scheduled(1, 2, 3, 50), 4);
  await clock.advanceMs(15);
  assert.deepEqual(sentMs(), [1]);
  client.answer(0);
  assert.deepEqual(sentMs(), [1, 15]);
  client.answer(0);
  client.answer(0);
  await clock.advanceMs(100);
  assert.deepEqual(sentMs(), [1, 15, 15, 50]);
  client.answer(0);
  await driver.finished();
  driver.drain();
  assert.deepEqual(flags, [0, RECORD_DELAYED, RECORD_DELAYED, 0]);
  driver.close();
});

test("waking up late is not a delay, being due before the lane waits is one", async () => {
  const { driver, client, clock, sentMs, flags } = makeScheduled(1, false);
  await starterOf(driver).start(scheduled(5, 8, 80), 3);
  // The event loop stands still over the first two.
  clock.spendMs(30);
  await clock.advanceMs(70);
  assert.deepEqual(sentMs().map(Math.round), [30, 30, 80]);
  for (const slot of client.active) client.answer(slot);
  await driver.finished();
  driver.drain();
  assert.deepEqual(flags, [0, RECORD_DELAYED, 0]);
  driver.close();
});

test("a stopped schedule sends nothing more, and leaves no timer", async () => {
  const { driver, client, clock, sentMs } = makeScheduled(1, false);
  await starterOf(driver).start(scheduled(1, 20, 30), ENDLESS);
  await clock.advanceMs(10);
  const stopped = driver.stop();
  client.answer(0);
  await stopped;
  await clock.advanceMs(100);
  assert.deepEqual(sentMs(), [1]);
  assert.equal(clock.timerCount, 0);
  driver.close();
});

test("a quota ends the schedule, though more would be due", async () => {
  const { driver, client, clock, sentMs } = makeScheduled(2, false);
  await starterOf(driver).start(scheduled(1, 2, 3, 4), 2);
  await clock.advanceMs(10);
  for (const slot of client.active) client.answer(slot);
  await driver.finished();
  await clock.advanceMs(10);
  assert.deepEqual(sentMs(), [1, 2]);
  driver.close();
});

/** How many requests one slice takes when each lasts this long. */
function countSent(requestMs: number): number {
  const clock = new FakeClock();
  const slice = new SendSlice(clock);
  let count = 0;
  for (; slice.takeOne(); count++) clock.spendMs(requestMs);
  return count;
}

test("a slice lasts a millisecond, but takes 32 requests however long they last", () => {
  assert.equal(countSent(1 / 1024), 1024);
  assert.equal(countSent(1 / 64), 64);
  assert.equal(countSent(0.5), 32);
  assert.equal(countSent(100), 32);
});
