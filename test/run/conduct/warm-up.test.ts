import assert from "node:assert/strict";
import { test } from "node:test";
import { warmUp, warmUpDrive } from "../../../src/run/conduct/warm-up.ts";
import type { FailurePolicy } from "../../../src/run/judge/failure-policy.ts";
import { Canceller } from "../../../src/run/send/canceller.ts";
import { makeLevel, settleWithin } from "./make-level.ts";

const drive = { kind: "closed", concurrency: 4 } as const;

/** Warms up a server that takes 10 ms for a request. */
function begin(count: number, durationMs: number) {
  const level = makeLevel();
  const { driver, signal } = level;
  const policy = { isWarmingUp: false } as FailurePolicy;
  const canceller = new Canceller({ sharePct: 100, delayMs: 0, seed: 1 });
  canceller.isEnabled = true;
  const started = {
    driver,
    policy,
    canceller,
    signal,
    drive: warmUpDrive(drive, count, durationMs),
    count,
    durationMs,
  };
  return { ...level, policy, canceller, done: warmUp(started) };
}

test("the concurrency does not exceed the number of requests", () => {
  assert.deepEqual(warmUpDrive(drive, 3, 0), { ...drive, concurrency: 3 });
  assert.deepEqual(warmUpDrive(drive, 9, 0), drive);
  assert.deepEqual(warmUpDrive(drive, 3, 100), drive, "a time has no number");
});

test("a number of requests is sent and answered", async () => {
  const { clock, driver, done, policy, canceller } = begin(10, 0);
  assert.deepEqual([policy.isWarmingUp, canceller.isEnabled], [true, false]);
  assert.deepEqual(await settleWithin(clock, 1000, done), { sentCount: 10, failedCount: 0 });
  assert.deepEqual([driver.outstanding, policy.isWarmingUp], [0, false]);
});

for (const [count, sentCount] of [
  [0, 40],
  [12, 40],
  [70, 70],
] as const)
  test(`100 ms and ${count} requests send ${sentCount}`, async () => {
    const { clock, driver, done } = begin(count, 100);
    const tally = await settleWithin(clock, 1000, done);
    // What is in flight when the time is over is part of it.
    assert.ok(tally.sentCount >= sentCount && tally.sentCount <= sentCount + 4, `${tally.sentCount}`);
    assert.equal(driver.outstanding, 0);
    driver.close();
  });

test("failures are counted separately", async () => {
  const { clock, client, done, server } = begin(1, 0);
  server.latencyMs = 1e9;
  await clock.advanceMs(1);
  client.answer(0, { kind: "http", message: "no" });
  assert.deepEqual(await settleWithin(clock, 1000, done), { sentCount: 1, failedCount: 1 });
});

test("a run that stops does not wait for it", async () => {
  const { clock, signal, done, driver, server } = begin(0, 60_000);
  server.latencyMs = Number.POSITIVE_INFINITY;
  await clock.advanceMs(20);
  signal.interrupt();
  assert.equal((await settleWithin(clock, 100, done)).failedCount, 0);
  driver.close();
});
