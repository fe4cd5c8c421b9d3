import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isSameThinking, Thinking } from "../../../src/run/send/think-time.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { makeDriver, starterOf } from "./fake-client.ts";

const ENDLESS = Number.POSITIVE_INFINITY;
const alone = (slot: number): number => slot;
const thinkTime = { meanMs: 100, seed: 0, userOf: alone };

describe("users who think", () => {
  test("send again when their time is over, each on its own", async () => {
    const clock = new FakeClock();
    const { driver, client } = makeDriver({ clock });
    const started = starterOf(driver).start({ kind: "closed", concurrency: 2, thinkTime }, ENDLESS);
    await clock.advanceMs(100);
    await started;
    assert.equal(client.sent.length, 2, "all have begun within the mean");
    await clock.advanceMs(50);
    client.answer(0);
    await clock.advanceMs(99);
    assert.deepEqual(client.active, [1]);
    await clock.advanceMs(2);
    assert.deepEqual(client.active, [0, 1]);
    const stopped = driver.stop();
    for (const slot of client.active) client.answer(slot);
    await stopped;
    await clock.advanceMs(1000);
    assert.deepEqual([client.active.length, clock.timerCount], [0, 0]);
    driver.close();
  });

  test("send nothing more when the quota is used up while they think", async () => {
    const clock = new FakeClock();
    const { driver, client } = makeDriver({ clock });
    void starterOf(driver).start({ kind: "closed", concurrency: 2, thinkTime }, 3);
    await clock.advanceMs(100);
    for (const slot of [0, 1]) client.answer(slot);
    await clock.advanceMs(300);
    assert.equal(client.sent.length, 3);
    client.answer(client.active[0] as number);
    await driver.finished();
    driver.close();
  });

  test("who have left do not come back, and who come are not there twice", async () => {
    const clock = new FakeClock();
    const { driver, client } = makeDriver({ clock });
    const concurrencyAt = (ns: number): number => (ns < 50e6 ? 2 : ns < 90e6 ? 1 : 2);
    await starterOf(driver).start({ kind: "ramp", maxConcurrency: 2, concurrencyAt, thinkTime }, ENDLESS);
    for (const slot of [0, 1]) client.answer(slot);
    await clock.advanceMs(99);
    assert.equal(client.sent.length, 2);
    await clock.advanceMs(20);
    assert.deepEqual(client.active, [0, 1]);
    driver.close();
  });

  test("have the same times whatever the number of senders", () => {
    const firstOf = (userOf: typeof alone, slot: number): number => {
      const clock = new FakeClock();
      const thinking = new Thinking({ ...thinkTime, stddevMs: 20, userOf }, clock, () => {});
      thinking.begin(slot);
      let waitedMs = 0;
      for (; thinking.take() === undefined && waitedMs < 1000; waitedMs++) clock.spendMs(1);
      thinking.clear();
      return waitedMs;
    };
    assert.equal(
      firstOf((slot) => 2 * slot + 1, 1),
      firstOf(alone, 3),
    );
    assert.notEqual(firstOf(alone, 0), firstOf(alone, 3));
  });

  test("think in the same way with the same distribution", () => {
    assert.ok(isSameThinking(thinkTime, { ...thinkTime, seed: 1 }));
    assert.ok(!isSameThinking(thinkTime, { ...thinkTime, stddevMs: 1 }));
    assert.ok(!isSameThinking(undefined, thinkTime));
  });
});
