import assert from "node:assert/strict";
import { test } from "node:test";
import { createLadder, ladderOf } from "../../src/load/load-ladder.ts";

test("a range doubles up to its end, and halves the distance", () => {
  const ladder = createLadder({ kind: "range", min: 3, max: 20 }, true);
  assert.deepEqual([ladder.first, ladder.above(3), ladder.above(12), ladder.above(20)], [3, 6, 20, undefined]);
  assert.deepEqual([ladder.between(6, 12), ladder.between(6, 7)], [9, undefined]);
});

test("a list has no other loads, whatever its order", () => {
  const ladder = createLadder({ kind: "list", values: [8, 1, 2, 4, 8, 16] }, true);
  assert.deepEqual([ladder.first, ladder.above(1), ladder.above(2), ladder.above(16)], [1, 2, 8, undefined]);
  assert.deepEqual([ladder.between(2, 16), ladder.between(2, 4)], [4, undefined]);
});

test("a search among levels tries these only", () => {
  const search = { levels: { kind: "list", values: [1, 4, 16, 64] }, search: "highest", unit: "concurrency" } as const;
  const ladder = ladderOf(search);
  assert.deepEqual([ladder.first, ladder.above(1), ladder.above(4), ladder.between(4, 64)], [1, 4, 64, 16]);
  assert.equal(ladder.levelAt(16), 16);
});

test("how close is close enough can be chosen", () => {
  const near = createLadder({ kind: "range", min: 1, max: 1000 }, false, 0.5);
  assert.deepEqual([near.between(100, 149), near.between(100, 160)], [undefined, 130]);
});
