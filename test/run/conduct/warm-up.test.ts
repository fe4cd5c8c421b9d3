import assert from "node:assert/strict";
import { test } from "node:test";
import { warmUp, warmUpStep } from "../../../src/run/conduct/warm-up.ts";
import { Canceller } from "../../../src/run/send/canceller.ts";
import { makeLevel, settleWithin } from "./make-level.ts";

const step = { phaseIndex: 0, level: 4, draw: 0 };

/** Warms up a server that takes 10 ms for a request. */
function begin(count: number, durationMs: number) {
  const canceller = new Canceller({ sharePct: 100, delayMs: 0, seed: 1 });
  const level = makeLevel({ canceller });
  const { context, clock, signal } = level;
  const failureLimits = { isWarmingUp: false };
  canceller.isEnabled = true;
  const { sender } = context;
  const started = {
    sender,
    clock,
    failureLimits,
    signal,
    step: warmUpStep(step, count, durationMs),
    count,
    durationMs,
  };
  return { ...level, failureLimits, canceller, done: warmUp(started) };
}

test("the concurrency does not exceed the number of requests, unless time decides", async () => {
  assert.deepEqual(warmUpStep(step, 3, 100), step);
  const { clock, done, client } = begin(3, 0);
  await settleWithin(clock, 1000, done);
  assert.equal(client.maxActive, 3);
});

test("a number of requests is sent and answered", async () => {
  const { clock, driver, done, failureLimits, canceller } = begin(10, 0);
  assert.deepEqual([failureLimits.isWarmingUp, canceller.isEnabled], [true, false]);
  assert.deepEqual(await settleWithin(clock, 1000, done), { sentCount: 10, failedCount: 0 });
  assert.deepEqual([driver.outstanding, failureLimits.isWarmingUp], [0, false]);
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
