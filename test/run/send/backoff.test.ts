import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "../../../src/run/send/backoff.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

function makeBackoff() {
  const clock = new FakeClock();
  const ready: number[] = [];
  return { clock, ready, backoff: new Backoff((slot) => ready.push(slot), clock) };
}

test("a slot waits twice as long with each failure in a row, a second at most", async () => {
  const { clock, ready, backoff } = makeBackoff();
  for (const waitMs of [20, 40, 80, 160, 320, 640, 1000, 1000]) {
    backoff.wait(3);
    await clock.advanceMs(waitMs - 1);
    assert.deepEqual([ready.splice(0), backoff.isWaiting(3)], [[], true], `${waitMs} ms`);
    await clock.advanceMs(1);
    assert.deepEqual([ready.splice(0), backoff.isWaiting(3)], [[3], false], `${waitMs} ms`);
  }
});

test("a success makes the slot's next wait short again, and no other's", async () => {
  const { clock, ready, backoff } = makeBackoff();
  for (const slot of [0, 1]) backoff.wait(slot);
  await clock.advanceMs(20);
  backoff.reset(0);
  for (const slot of [0, 1]) backoff.wait(slot);
  ready.length = 0;
  await clock.advanceMs(20);
  assert.deepEqual(ready, [0]);
});

test("clearing returns the waiting slots, and calls none", async () => {
  const { clock, ready, backoff } = makeBackoff();
  for (const slot of [4, 2]) backoff.wait(slot);
  assert.deepEqual(backoff.clear(), [4, 2]);
  await clock.advanceMs(5000);
  assert.deepEqual([ready, backoff.isWaiting(4), backoff.clear()], [[], false, []]);
});
