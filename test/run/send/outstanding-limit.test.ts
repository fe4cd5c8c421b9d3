import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RECORD_DELAYED } from "../../../src/measure/records.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { type DriverUnderTest, makeDataset, makeDriver, makeService, starterOf } from "./fake-client.ts";

/** Schedules with a limit of requests outstanding: what waits, in which order it goes, and what is told of it. */

function scheduled(maxOutstanding: number, ...dueMs: number[]) {
  let index = 0;
  const arrivals = (): number => (index < dueMs.length ? (dueMs[index++] as number) * 1e6 : Number.POSITIVE_INFINITY);
  return { kind: "scheduled", arrivals, maxOutstanding } as const;
}

interface Numbered extends DriverUnderTest {
  readonly clock: FakeClock;
}

/** A driver whose requests hold the number of their step. */
function makeNumbered(isSync: boolean, laneCount: number, stepCount = 6): Numbered {
  const feed = new RequestFeed(makeService(), makeDataset(stepCount), { usesIds: false });
  const clock = new FakeClock();
  return { ...makeDriver({ clock, laneCount, isSync, feed }), clock };
}

const sentSteps = ({ client }: DriverUnderTest): unknown[] =>
  client.sent.map(({ request }) => (request.payload as Uint8Array)[0]);

test("due requests above the limit wait, and are sent with the next responses in order", async () => {
  const made = makeNumbered(false, 4);
  const { driver, client, clock, flags } = made;
  await starterOf(driver).start(scheduled(2, 1, 2, 3, 4, 5, 6), 6);
  await clock.advanceMs(14);
  assert.deepEqual(sentSteps(made), [0, 1], "nothing goes beyond the limit");
  client.answer(client.active[1] as number);
  assert.deepEqual(sentSteps(made), [0, 1, 2], "the response brings the next one, at once");
  client.answer(client.active[0] as number);
  assert.deepEqual(sentSteps(made), [0, 1, 2, 3]);
  while (client.active.length > 0) client.answer(client.active[0] as number);
  await driver.finished();
  driver.drain();
  assert.deepEqual(sentSteps(made), [0, 1, 2, 3, 4, 5]);
  assert.equal(client.maxActive, 2);
  const { count = 0, longestNs = 0 } = driver.delayedByLimit ?? {};
  assert.equal(count, 4);
  assert.equal(longestNs, 11e6, "the third was due at 3 ms, and went at 14 ms");
  assert.equal(flags.filter((flag) => flag === RECORD_DELAYED).length, 4);
  driver.close();
});

test("what was delayed before a level does not count as delayed in it", async () => {
  const { driver, client, clock } = makeNumbered(false, 2);
  const load = starterOf(driver);
  await load.start(scheduled(1, 1, 2, 3, 4), 4);
  await clock.advanceMs(100);
  client.answer(client.active[0] as number);
  assert.deepEqual(driver.delayedByLimit, { count: 1, longestNs: 98e6 });
  await clock.advanceMs(10);
  driver.load.beginLevel?.();
  client.answer(client.active[0] as number);
  client.answer(client.active[0] as number);
  // Those due at 3 and 4 ms, sent at 110 ms.
  assert.deepEqual(driver.delayedByLimit, { count: 2, longestNs: 107e6 });
  driver.close();
});

test("a limit that is never reached delays nothing", async () => {
  const { driver, client, clock } = makeNumbered(false, 2);
  await starterOf(driver).start(scheduled(2, 1, 2, 30), 3);
  await clock.advanceMs(10);
  client.answer(client.active[0] as number);
  client.answer(client.active[0] as number);
  await clock.advanceMs(20);
  client.answer(client.active[0] as number);
  await driver.finished();
  assert.deepEqual(driver.delayedByLimit, { count: 0, longestNs: 0 });
  driver.close();
});

test("a schedule without a limit reports none", async () => {
  const { driver, client, clock } = makeNumbered(false, 2);
  const { maxOutstanding: _, ...endless } = scheduled(1, 1, 2, 3);
  await starterOf(driver).start(endless, 3);
  await clock.advanceMs(3);
  assert.equal(client.active.length, 3);
  assert.equal(driver.delayedByLimit, undefined);
  driver.close();
});

test("a request that still waits counts with its wait so far", async () => {
  const { driver, client, clock } = makeNumbered(false, 1);
  await starterOf(driver).start(scheduled(1, 0, 1), 2);
  await clock.advanceMs(15);
  assert.equal(client.active.length, 1);
  assert.deepEqual(driver.delayedByLimit, { count: 0, longestNs: 14e6 });
  driver.close();
});

test("a failed request makes room as a response does, also when its connection was lost", async () => {
  const { driver, client, clock } = makeNumbered(false, 2);
  await starterOf(driver).start(scheduled(1, 0, 1, 2), 3);
  await clock.advanceMs(5);
  client.answer(client.active[0] as number, { kind: "http", status: 500, message: "no" });
  assert.equal(client.sent.length, 2);
  client.answer(client.active[0] as number, { kind: "closed", message: "gone" });
  await clock.advanceMs(20);
  assert.equal(client.sent.length, 3, "a lost connection waits 20 ms");
  client.answer(client.active[0] as number);
  await driver.finished();
  assert.deepEqual([driver.sentCount, driver.ended.failedCount, client.maxActive], [3, 2, 1]);
  driver.close();
});

test("stopping leaves waiting requests unsent", async () => {
  const { driver, client, clock } = makeNumbered(false, 2);
  await starterOf(driver).start(scheduled(1, 0, 0, 0), 3);
  await clock.advanceMs(1);
  const stopped = driver.stop();
  client.answer(client.active[0] as number);
  await stopped;
  assert.equal(client.sent.length, 1);
});

for (const isSync of [true, false]) {
  test(`never more are outstanding than may be, and all are sent in their order (${isSync ? "sync" : "async"})`, async () => {
    const picks = fc.array(fc.nat(), { minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 4 }),
        picks,
        async (most, lanes, order) => {
          const count = 24;
          const made = makeNumbered(isSync, lanes, count);
          const { driver, client, clock } = made;
          await starterOf(driver).start(scheduled(most, ...new Array<number>(count).fill(0)), count);
          await clock.advanceMs(1);
          assert.equal(client.active.length, Math.min(most, isSync ? lanes : most));
          for (const pick of order) {
            const { active } = client;
            if (active.length > 0) client.answer(active[pick % active.length] as number);
          }
          await driver.finished();
          assert.ok(client.maxActive <= most);
          assert.equal(client.sent.length, count);
          // Lanes that wait for their responses may be overtaken by others, as without a limit.
          if (!isSync) assert.deepEqual(sentSteps(made), Array.from(client.sent.keys()));
          driver.close();
        },
      ),
      { numRuns: 30 },
    );
  });
}
