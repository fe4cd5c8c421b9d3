// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RECORD_FAILED } from "../../../src/measure/records.ts";
import { BurstSharing } from "../../../src/run/send/burst-sharing.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { until } from "../../until.ts";
import { makeDriver, scheduled, starterOf } from "./fake-client.ts";

const ENDLESS = Number.POSITIVE_INFINITY;
const closed = (concurrency: number): { kind: "closed"; concurrency: number } => ({ kind: "closed", concurrency });

test("a closed loop sends its concurrency and then a new request for each response", async () => {
  const { driver, client } = makeDriver();
  await starterOf(driver).start(closed(3), ENDLESS);
  assert.deepEqual(client.active, [0, 1, 2]);
  client.answer(1);
  assert.deepEqual(
    client.sent.map(({ slot }) => slot),
    [0, 1, 2, 1],
  );
  assert.deepEqual([driver.sentCount, driver.ended.completedCount, driver.outstanding], [4, 1, 3]);
  driver.close();
});

test("the core is shared with others before each request of a burst but the first", async () => {
  const { driver, client } = makeDriver();
  const sentThen: number[] = [];
  const still = { nowNs: () => 0, cpuNs: () => 0 };
  driver.sharing = new BurstSharing(() => sentThen.push(client.sent.length), still);
  await starterOf(driver).start(closed(3), ENDLESS);
  client.answer(1);
  assert.deepEqual(sentThen, [1, 2, 3]);
  driver.close();
});

test("what is unsent can be cancelled alone: a request on a stream costs the server a reset", async () => {
  const { driver, client } = makeDriver();
  await starterOf(driver).start(closed(4), ENDLESS);
  driver.endSending();
  for (const slot of [0, 1]) Object.assign(client.calls[slot] as object, { isSending: true, hasStream: slot === 0 });
  driver.cancel("enough", "unsent");
  assert.deepEqual(client.active, [0, 2, 3]);
  driver.cancel("enough");
  assert.deepEqual(client.active, []);
  driver.close();
});

test("a closed loop never has more outstanding than asked, whatever order responses come in", async () => {
  const responses = fc.array(fc.nat(), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 8, max: 80 }),
      responses,
      async (n, quota, picks) => {
        const { driver, client, flags } = makeDriver();
        await starterOf(driver).start(closed(n), quota);
        for (const pick of picks) {
          const { active } = client;
          if (active.length === 0) break;
          client.answer(active[pick % active.length] as number);
          assert.equal(client.active.length, Math.min(n, quota - driver.ended.completedCount));
        }
        assert.equal(client.maxActive, n);
        while (client.active.length > 0) client.answer(client.active[0] as number);
        await driver.finished();
        driver.drain();
        assert.deepEqual([driver.sentCount, driver.ended.completedCount, flags.length], [quota, quota, quota]);
        driver.close();
      },
    ),
    { numRuns: 40 },
  );
});

test("the quota is exact, and the run is finished with its last response", async () => {
  const { driver, client } = makeDriver();
  await starterOf(driver).start(closed(2), 5);
  let isFinished = false;
  const finished = driver.finished().then(() => {
    isFinished = true;
  });
  for (let i = 0; i < 4; i++) client.answer(client.active[0] as number);
  await Promise.resolve();
  assert.equal(isFinished, false);
  client.answer(client.active[0] as number);
  await finished;
  assert.equal(client.sent.length, 5);
});

test("raising the level adds requests, lowering it waits for the surplus", async () => {
  const { driver, client } = makeDriver();
  await starterOf(driver).start(closed(2), ENDLESS);
  await starterOf(driver).start(closed(5), ENDLESS);
  assert.equal(driver.outstanding, 5);
  let isLowered = false;
  const lowered = starterOf(driver)
    .start(closed(1), ENDLESS)
    .then(() => {
      isLowered = true;
    });
  await new Promise((resolve) => setImmediate(resolve));
  for (const slot of [4, 3, 2]) {
    client.answer(slot);
    await Promise.resolve();
    assert.equal(isLowered, false);
  }
  client.answer(1);
  await lowered;
  assert.equal(driver.outstanding, 1);
  client.answer(0);
  assert.deepEqual(client.active, [0]);
  driver.close();
});

test("stop sends nothing more and resolves when all is answered", async () => {
  const { driver, client } = makeDriver();
  await starterOf(driver).start(closed(2), ENDLESS);
  let isQuiet = false;
  const quiet = driver.stop().then(() => {
    isQuiet = true;
  });
  client.answer(0);
  await Promise.resolve();
  assert.equal(isQuiet, false);
  client.answer(1);
  await quiet;
  assert.deepEqual([client.sent.length, driver.outstanding], [2, 0]);
});

test("close fails outstanding requests and keeps the sum: sent is completed and failed", async () => {
  const { driver, client, failures, flags } = makeDriver();
  await starterOf(driver).start(closed(4), ENDLESS);
  client.answer(2);
  driver.close();
  assert.equal(client.isClosed, true);
  assert.deepEqual([driver.sentCount, driver.ended.completedCount, driver.ended.failedCount], [5, 1, 4]);
  assert.ok(failures.every(({ failure }) => failure.kind === "aborted"));
  assert.deepEqual([...flags].sort(), [0, RECORD_FAILED, RECORD_FAILED, RECORD_FAILED, RECORD_FAILED]);
});

test("a server's error is followed by the next request immediately, a lost connection by a delay", async () => {
  const { driver, client, failures } = makeDriver();
  await starterOf(driver).start(closed(2), ENDLESS);
  client.answer(0, { kind: "http", message: "no", status: 400 });
  assert.deepEqual(client.active, [0, 1]);
  client.answer(1, { kind: "closed", message: "gone" });
  assert.deepEqual(client.active, [0]);
  await until(() => client.active.length === 2);
  assert.deepEqual(
    failures.map(({ failure, lane }) => [failure.kind, lane]),
    [
      ["http", 0],
      ["closed", 1],
    ],
  );
  assert.equal(driver.ended.failedCount, 2);
  driver.close();
});

test("a pause after a lost connection ends with the run", async () => {
  const clock = new FakeClock();
  const { driver, client } = makeDriver({ clock });
  await starterOf(driver).start(closed(1), ENDLESS);
  client.answer(0, { kind: "connect", message: "refused" });
  await driver.stop();
  await clock.advanceMs(1000);
  assert.equal(client.sent.length, 1);
});

test("connections are asked for ahead of the first request", async () => {
  const { driver, client } = makeDriver({ laneCount: 4 });
  await starterOf(driver).prepare(closed(7));
  assert.equal(client.calls.length, 7);
  await starterOf(driver).prepare(scheduled());
  assert.equal(client.calls.length, 7);
  assert.equal(client.sent.length, 0);
  driver.close();
});

for (const isSync of [true, false]) {
  test(`a slot that waits after a lost connection has one place in the next schedule (${isSync ? "sync" : "async"})`, async () => {
    const clock = new FakeClock();
    const { driver, client } = makeDriver({ clock, laneCount: 1, isSync });
    await starterOf(driver).start(scheduled(0), ENDLESS);
    await clock.advanceMs(1);
    client.answer(0, { kind: "closed", message: "gone" });
    await starterOf(driver).start(scheduled(5, 30, 31, 32), ENDLESS);
    // A request on a slot that has one would make the fake client throw.
    await clock.advanceMs(1000);
    assert.equal(client.active.length, isSync ? 1 : 4);
    driver.close();
  });
}

test("exceptions while requests end are reported, not lost", async () => {
  const { driver, client, errors } = makeDriver();
  await starterOf(driver).start(closed(1), ENDLESS);
  client.answer(0, { kind: "validation", message: "throws" });
  assert.deepEqual(
    errors.map((error) => String(error)),
    ["Error: judging failed"],
  );
  driver.close();
});

test("a load waits for connections that are being opened, also when another call opens them", async () => {
  const { driver, client } = makeDriver();
  const opened = Promise.withResolvers<void>();
  const reserve = client.reserve.bind(client);
  client.reserve = (count) => reserve(count).then(() => opened.promise);
  void starterOf(driver).prepare(closed(2));
  let isReady = false;
  const ready = starterOf(driver)
    .prepare(closed(2))
    .then(() => {
      isReady = true;
    });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isReady, false);
  opened.resolve();
  await ready;
  driver.close();
});
