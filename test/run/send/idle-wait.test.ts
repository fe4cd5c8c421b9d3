import assert from "node:assert/strict";
import { test } from "node:test";
import { IdleWait } from "../../../src/run/send/idle-wait.ts";

/** A wait, and whether it is over. */
function begin(idle: IdleWait, outstanding: number, atMost: number): { isOver(): Promise<boolean> } {
  let isOver = false;
  void idle.wait(outstanding, atMost).then(() => {
    isOver = true;
  });
  return { isOver: () => Promise.resolve().then(() => isOver) };
}

test("few enough requests are waited for, not fewer", async () => {
  const idle = new IdleWait();
  const wait = begin(idle, 5, 2);
  for (const [outstanding, isOver] of [
    [4, false],
    [3, false],
    [2, true],
  ] as const) {
    idle.check(outstanding);
    assert.equal(await wait.isOver(), isOver, `${outstanding} outstanding`);
  }
});

test("a wait resolves immediately when few enough are outstanding", async () => {
  await new IdleWait().wait(2, 2);
});

test("whoever comes later replaces whoever waited", async () => {
  const idle = new IdleWait();
  const first = begin(idle, 5, 0);
  const second = begin(idle, 5, 3);
  assert.deepEqual([await first.isOver(), await second.isOver()], [true, false]);
  idle.check(3);
  assert.equal(await second.isOver(), true);
});
