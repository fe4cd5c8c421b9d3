import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RequestOrder } from "../../../src/run/fleet/request-order.ts";
import { systemClock } from "../../../src/runtime/clock.ts";

/** What several senders report comes into one order, whatever the order in which it arrives. */

/** A turn of the event loop that the test begins. */
function makeTurns() {
  const actions: (() => void)[] = [];
  return {
    clock: {
      nextTurn: (action: () => void) => {
        actions.push(action);
        return () => {};
      },
    },
    turn: () => {
      for (const action of actions.splice(0)) action();
    },
  };
}

test("between two borders is exactly what each sender reports between its replies to them", () => {
  const counts = fc.array(fc.nat({ max: 3 }), { minLength: 3, maxLength: 3 });
  const senders = fc.array(counts, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(senders, fc.array(fc.nat({ max: 97 }), { minLength: 1 }), (bySender, picks) => {
      const passed: string[] = [];
      const { clock, turn } = makeTurns();
      const order = new RequestOrder<string>(bySender.length, (batch) => passed.push(batch), clock);
      // Two borders divide the batches of each sender in three parts.
      for (const border of [0, 1]) void order.begin(() => passed.push(`border ${border}`));
      const streams = bySender.map((parts, sender) =>
        parts.flatMap((count, part) => [
          ...Array.from({ length: count }, (_, at) => () => order.add(sender, `${part}:${sender}:${at}`)),
          ...(part < 2 ? [() => order.passed(sender)] : []),
        ]),
      );
      for (let step = 0; streams.some(({ length }) => length > 0); step++) {
        const open = streams.filter(({ length }) => length > 0);
        const pick = picks[step % picks.length] as number;
        open[pick % open.length]?.shift()?.();
        if (pick % 2 === 0) turn();
      }
      for (let left = 0; left < 3; left++) turn();
      const partsOf = (from: number, to: number): string[] => passed.slice(from, to).map((batch) => batch[0] as string);
      const [first, second] = [passed.indexOf("border 0"), passed.indexOf("border 1")];
      assert.ok(partsOf(0, first).every((part) => part === "0"));
      assert.ok(partsOf(first + 1, second).every((part) => part === "1"));
      assert.ok(partsOf(second + 1, passed.length).every((part) => part === "2"));
      const total = bySender.flat().reduce((sum, count) => sum + count, 0);
      assert.equal(new Set(passed).size, total + 2);
      assert.equal(passed.length, total + 2);
    }),
  );
});

test("what a sender reports after a border waits until the conductor has heard of the last reply", async () => {
  const passed: string[] = [];
  const order = new RequestOrder<string>(2, (batch) => passed.push(batch), systemClock);
  const heard = [1, 2].map(async (border) => {
    await order.begin();
    passed.push(`conductor ${border}`);
  });
  order.add(0, "before");
  order.passed(0);
  order.add(0, "between");
  order.passed(0);
  order.add(0, "after");
  order.passed(1);
  order.passed(1);
  assert.deepEqual(passed, ["before"]);
  await Promise.all(heard);
  // In later turns of the event loop.
  while (passed.length < 5) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual(passed, ["before", "conductor 1", "between", "conductor 2", "after"]);
});

test("a sender that is gone holds nobody up, and the end passes on the rest", () => {
  const passed: string[] = [];
  const { clock, turn } = makeTurns();
  const order = new RequestOrder<string>(2, (batch) => passed.push(batch), clock);
  void order.begin();
  order.passed(0);
  order.add(0, "a");
  order.lose(1);
  turn();
  assert.deepEqual(passed, ["a"]);
  void order.begin(() => passed.push("border"));
  order.add(0, "b");
  order.finish();
  assert.deepEqual(passed, ["a", "b", "border"]);
});
