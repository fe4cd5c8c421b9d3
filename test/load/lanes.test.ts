import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { DueHeap } from "../../src/load/due-heap.ts";
import { LaneIds } from "../../src/load/lane-ids.ts";
import { Pacer } from "../../src/load/pacer.ts";

/** How a schedule is shared among lanes. */

test("the heap gives lanes back by their due time", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e9, noNaN: true })), (due) => {
      const heap = new DueHeap();
      for (const [lane, dueNs] of due.entries()) heap.push(lane, dueNs);
      assert.equal(heap.size, due.length);
      const order: number[] = [];
      while (heap.size > 0) {
        const firstNs = heap.firstDueNs;
        const lane = heap.pop();
        assert.equal(due[lane], firstNs);
        order.push(firstNs);
      }
      assert.deepEqual(
        order,
        [...due].sort((a, b) => a - b),
      );
      assert.equal(heap.firstDueNs, Number.POSITIVE_INFINITY);
    }),
  );
});

test("of equal due times the lane pushed first is first", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 }), (due) => {
      const heap = new DueHeap();
      for (const [lane, dueNs] of due.entries()) heap.push(lane, dueNs);
      const expected = [...due.entries()].sort(([one, a], [other, b]) => a - b || one - other);
      assert.deepEqual(
        due.map(() => heap.pop()),
        expected.map(([lane]) => lane),
      );
    }),
  );
});

test("pushing and popping in any order keeps every lane once", () => {
  const steps = fc.array(fc.oneof(fc.constant("pop" as const), fc.integer({ min: 0, max: 100 })));
  fc.assert(
    fc.property(steps, (actions) => {
      const heap = new DueHeap();
      const model: { lane: number; dueNs: number }[] = [];
      for (const [lane, action] of actions.entries()) {
        if (action !== "pop") {
          heap.push(lane, action);
          model.push({ lane, dueNs: action });
        } else if (model.length > 0) {
          const lanePopped = heap.pop();
          const index = model.findIndex((entry) => entry.lane === lanePopped);
          const [entry] = model.splice(index, 1);
          assert.equal(entry?.dueNs, Math.min(entry?.dueNs ?? 0, ...model.map(({ dueNs }) => dueNs)));
        }
        assert.equal(heap.size, model.length);
      }
    }),
  );
});

test("an empty heap can not be popped", () => {
  const heap = new DueHeap();
  assert.throws(() => heap.pop(), /empty/);
  heap.push(1, 5);
  assert.equal(heap.pop(), 1);
  assert.equal(heap.size, 0);
  assert.throws(() => heap.pop(), /empty/);
});

test("arrival i belongs to lane i modulo the number of lanes, whoever asks first", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.nat({ max: 7 }), { maxLength: 100 }),
      (laneCount, asked) => {
        let count = 0;
        const pacer = new Pacer(() => count++, laneCount);
        const turns = new Array<number>(laneCount).fill(0);
        for (const ask of asked) {
          const lane = ask % laneCount;
          assert.equal(pacer.nextDueNs(lane), lane + (turns[lane] as number) * laneCount);
          turns[lane] = (turns[lane] as number) + 1;
        }
      },
    ),
  );
});

test("ids are the lane in the upper bits and a counter, in decimal", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65_535 }), fc.integer({ min: 1, max: 300 }), (lane, count) => {
      const ids = new LaneIds(lane);
      for (let n = 0; n < count; n++) {
        const text = new TextDecoder().decode(ids.next());
        assert.equal(BigInt(text), (BigInt(lane) << 48n) | BigInt(n));
      }
    }),
  );
});

test("ids grow by a digit where they must: 9 to 10, 999 to 1000", () => {
  const ids = new LaneIds(0);
  const texts = Array.from({ length: 1001 }, () => new TextDecoder().decode(ids.next()));
  assert.deepEqual(
    [texts[0], texts[9], texts[10], texts[99], texts[100], texts[999], texts[1000]],
    ["0", "9", "10", "99", "100", "999", "1000"],
  );
});
