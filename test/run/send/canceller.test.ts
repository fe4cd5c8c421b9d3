import assert from "node:assert/strict";
import { test } from "node:test";
import { Canceller } from "../../../src/run/send/canceller.ts";
import { Call } from "../../../src/transport/call.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

function makeCanceller(delayMs: number, sharePct = 100) {
  const clock = new FakeClock();
  const canceller = new Canceller({ sharePct, delayMs, seed: 1 }, clock);
  const cancelled: (readonly [slot: number, atMs: number, message: string])[] = [];
  canceller.attach((slot, { message }) => cancelled.push([slot, clock.nowMs, message]));
  canceller.isEnabled = true;
  return { clock, canceller, cancelled };
}

/** A request that left at this moment. */
function sentAt(slot: number, ms: number, isSending = false): Call {
  const call = new Call(slot);
  call.isSending = isSending;
  call.sendEndNs = ms * 1e6;
  return call;
}

for (const [delayMs, message] of [
  [0, /as soon as it was sent/],
  [30, /30 ms after it was sent/],
  [2 ** 31, / min after it was sent/],
] as const)
  test(`a request is cancelled ${delayMs} ms after it was sent`, async () => {
    const { clock, canceller, cancelled } = makeCanceller(delayMs);
    canceller.add(sentAt(5, 0));
    assert.deepEqual(cancelled, [], "never from inside");
    await clock.advanceMs(delayMs + 1);
    assert.equal(cancelled.length, 1);
    const [slot, atMs = 0, text = ""] = cancelled[0] ?? [];
    assert.equal(slot, 5);
    assert.ok(Math.abs(atMs - delayMs) < 0.01, `${atMs}`);
    assert.match(text, message);
  });

test("the time counts from when all of the request's bytes had left", async () => {
  const { clock, canceller, cancelled } = makeCanceller(30);
  const call = sentAt(0, 0, true);
  canceller.add(call);
  await clock.advanceMs(100);
  call.sendEndNs = 90e6;
  canceller.sent(call);
  await clock.advanceMs(100);
  assert.deepEqual(
    cancelled.map(([, atMs]) => atMs),
    [120],
  );
});

test("a request that is ended by then is left alone", async () => {
  const { clock, canceller, cancelled } = makeCanceller(30);
  canceller.add(sentAt(0, 0));
  await clock.advanceMs(29);
  canceller.ended(0);
  await clock.advanceMs(100);
  assert.deepEqual([cancelled, clock.timerCount], [[], 0]);
});

test("the seed draws the share of requests, and none while it is off", async () => {
  const { clock, canceller, cancelled } = makeCanceller(1, 25);
  for (let slot = 0; slot < 1000; slot++) canceller.add(sentAt(slot, 0));
  await clock.advanceMs(2);
  const drawn = cancelled.map(([slot]) => slot);
  assert.ok(drawn.length > 200 && drawn.length < 300, `${drawn.length}`);
  const again = makeCanceller(1, 25);
  for (let slot = 0; slot < 1000; slot++) again.canceller.add(sentAt(slot, 0));
  await again.clock.advanceMs(2);
  assert.deepEqual(
    again.cancelled.map(([slot]) => slot),
    drawn,
    "the same ones in each run",
  );
  canceller.isEnabled = false;
  cancelled.length = 0;
  for (let slot = 0; slot < 1000; slot++) canceller.add(sentAt(slot, 2));
  await clock.advanceMs(100);
  assert.deepEqual(cancelled, []);
});
