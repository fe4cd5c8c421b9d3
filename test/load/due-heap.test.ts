import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { DueHeap } from "../../src/load/due-heap.ts";

test("the heap returns lanes by their due time", () => {
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
