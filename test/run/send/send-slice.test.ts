import assert from "node:assert/strict";
import { test } from "node:test";
import { SendSlice } from "../../../src/run/send/send-slice.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

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
