import assert from "node:assert/strict";
import { test } from "node:test";
import { EndWaits } from "../../../src/run/send/end-waits.ts";

/** A wait, and whether it is over. */
function begin(waits: EndWaits, outstanding: number, atMost: number): { isOver(): Promise<boolean> } {
  let isOver = false;
  void waits.untilOutstanding(outstanding, atMost).then(() => {
    isOver = true;
  });
  return { isOver: () => Promise.resolve().then(() => isOver) };
}

test("few enough requests are waited for, not fewer", async () => {
  const idle = new EndWaits();
  const wait = begin(idle, 5, 2);
  for (const [outstanding, isOver] of [
    [4, false],
    [3, false],
    [2, true],
  ] as const) {
    idle.check(outstanding, 0);
    assert.equal(await wait.isOver(), isOver, `${outstanding} outstanding`);
  }
});

test("a wait resolves immediately when few enough are outstanding", async () => {
  await new EndWaits().untilOutstanding(2, 2);
});

test("a later wait for few outstanding requests replaces an earlier one", async () => {
  const idle = new EndWaits();
  const first = begin(idle, 5, 0);
  const second = begin(idle, 5, 3);
  assert.deepEqual([await first.isOver(), await second.isOver()], [true, false]);
  idle.check(3, 0);
  assert.equal(await second.isOver(), true);
});

test("a number of ended requests is waited for, and a later wait replaces an earlier one", async () => {
  const waits = new EndWaits();
  const reached: number[] = [];
  const state = (): string => reached.join(" ");
  void waits.untilEnded(3, 5).then(() => reached.push(5));
  waits.check(1, 4);
  await Promise.resolve();
  assert.equal(state(), "");
  void waits.untilEnded(4, 6).then(() => reached.push(6));
  await Promise.resolve();
  assert.equal(state(), "5");
  waits.check(1, 7);
  await Promise.resolve();
  assert.equal(state(), "5 6");
  await waits.untilEnded(7, 7);
});

test("a wait for the finish resolves once, or when another one begins", async () => {
  const waits = new EndWaits();
  const replaced = waits.untilFinished();
  const finished = waits.untilFinished();
  await replaced;
  assert.equal(waits.isFinishAwaited, true);
  waits.finish();
  await finished;
  assert.equal(waits.isFinishAwaited, false);
});
