import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RECORD_DELAYED } from "../../../src/measure/records.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { type DriverUnderTest, makeDataset, makeDriver, makeService } from "./fake-client.ts";

/** Schedules with a limit of requests outstanding: what waits, in which order it goes, and what is told of it. */

function scheduled(maxOutstanding: number, ...dueMs: number[]) {
  let index = 0;
  const arrivals = (): number => (index < dueMs.length ? (dueMs[index++] as number) * 1e6 : Number.POSITIVE_INFINITY);
  return { kind: "scheduled", arrivals, maxOutstanding } as const;
}

/** Resolves once `isMet`; looks at every turn of the event loop. */
async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets the given time pass, whatever it takes of turns. */
async function pass(ms: number): Promise<void> {
  const startMs = performance.now();
  await until(() => performance.now() - startMs >= ms);
}

/** A driver whose requests hold the number of their step. */
function makeNumbered(isSync: boolean, laneCount: number, stepCount: number): DriverUnderTest {
  const feed = new RequestFeed(makeService(), makeDataset(stepCount), { usesIds: false });
  return makeDriver({ laneCount, isSync, feed });
}

const sentSteps = ({ client }: DriverUnderTest): unknown[] =>
  client.sent.map(({ request }) => (request.payload as Uint8Array)[0]);

test("what is due while so many are outstanding waits, and goes with the next answer in its order", async () => {
  const made = makeNumbered(false, 4, 6);
  const { driver, client, flags } = made;
  await driver.start(scheduled(2, 1, 2, 3, 4, 5, 6), 6);
  await until(() => client.sent.length === 2);
  await pass(12);
  assert.deepEqual(sentSteps(made), [0, 1], "nothing goes beyond the limit");
  client.answer(client.active[1] as number);
  assert.deepEqual(sentSteps(made), [0, 1, 2], "the answer brings the next one, at once");
  client.answer(client.active[0] as number);
  assert.deepEqual(sentSteps(made), [0, 1, 2, 3]);
  while (client.active.length > 0) client.answer(client.active[0] as number);
  await driver.finished();
  driver.drain();
  assert.deepEqual(sentSteps(made), [0, 1, 2, 3, 4, 5]);
  assert.equal(client.maxActive, 2);
  const { count = 0, longestNs = 0 } = driver.delayedByLimit ?? {};
  assert.equal(count, 4);
  // The third was due at 3 ms, and went after the 12 ms that followed the second's at 2 ms.
  assert.ok(longestNs > 8e6, `${longestNs}`);
  assert.equal(flags.filter((flag) => flag === RECORD_DELAYED).length, 4);
  driver.close();
});

test("a limit that is never reached holds nothing back", async () => {
  const { driver, client } = makeDriver({ laneCount: 2, isSync: false });
  await driver.start(scheduled(2, 1, 2, 30), 3);
  await until(() => client.sent.length === 2);
  client.answer(client.active[0] as number);
  client.answer(client.active[0] as number);
  await until(() => client.sent.length === 3);
  client.answer(client.active[0] as number);
  await driver.finished();
  assert.deepEqual(driver.delayedByLimit, { count: 0, longestNs: 0 });
  driver.close();
});

test("a schedule without a limit tells of none", async () => {
  const { driver, client } = makeDriver({ laneCount: 2, isSync: false });
  const { maxOutstanding: _, ...endless } = scheduled(1, 1, 2, 3);
  await driver.start(endless, 3);
  await until(() => client.active.length === 3);
  assert.equal(driver.delayedByLimit, undefined);
  driver.close();
});

test("what still waits counts with its wait so far", async () => {
  const { driver, client } = makeDriver({ laneCount: 1, isSync: false });
  await driver.start(scheduled(1, 0, 1), 2);
  await until(() => client.active.length === 1);
  await pass(15);
  const { count, longestNs = 0 } = driver.delayedByLimit ?? {};
  assert.equal(count, 0);
  assert.ok(longestNs > 10e6, `${longestNs}`);
  driver.close();
});

test("a failed request makes room as an answer does, also when its connection was lost", async () => {
  const { driver, client } = makeDriver({ laneCount: 2, isSync: false });
  await driver.start(scheduled(1, 0, 1, 2), 3);
  await until(() => client.sent.length === 1);
  await pass(4);
  client.answer(client.active[0] as number, { kind: "http", status: 500, message: "no" });
  assert.equal(client.sent.length, 2);
  client.answer(client.active[0] as number, { kind: "closed", message: "gone" });
  await until(() => client.sent.length === 3);
  client.answer(client.active[0] as number);
  await driver.finished();
  assert.deepEqual([driver.sentCount, driver.ended.failedCount, client.maxActive], [3, 2, 1]);
  driver.close();
});

test("stopping leaves what waits unsent", async () => {
  const { driver, client } = makeDriver({ laneCount: 2, isSync: false });
  await driver.start(scheduled(1, 0, 0, 0), 3);
  await until(() => client.active.length === 1);
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
          const { driver, client } = made;
          await driver.start(scheduled(most, ...new Array<number>(count).fill(0)), count);
          await until(() => client.active.length === Math.min(most, isSync ? lanes : most));
          for (const pick of order) {
            const { active } = client;
            if (active.length > 0) client.answer(active[pick % active.length] as number);
          }
          await driver.finished();
          assert.ok(client.maxActive <= most);
          assert.equal(client.sent.length, count);
          // Lanes that wait for their answers may be overtaken by others, as without a limit.
          if (!isSync) assert.deepEqual(sentSteps(made), Array.from(client.sent.keys()));
          driver.close();
        },
      ),
      { numRuns: 30 },
    );
  });
}
