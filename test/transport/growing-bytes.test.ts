import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponsesTooLargeError } from "../../src/transport/failure.ts";
import { ByteBudget, GrowingBytes } from "../../src/transport/growing-bytes.ts";

const MIB = 1024 * 1024;
const PIECE = new Uint8Array(4 * MIB).fill(7);

function grow(bytes: GrowingBytes, mebibytes: number): void {
  for (let size = 0; size < mebibytes; size += 4) bytes.append(PIECE, 0, PIECE.length);
}

test("large buffers share a budget, which a single one may exceed, and small ones are not counted", () => {
  const budget = new ByteBudget(64 * MIB);
  const [one, two, small] = [new GrowingBytes(budget), new GrowingBytes(budget), new GrowingBytes(budget)];
  small.append(PIECE, 0, 60_000);
  grow(one, 80);
  assert.throws(() => grow(two, 24), ResponsesTooLargeError);
  two.clear();
  assert.equal(one.take().length, 80 * MIB);
  // What was taken is another's.
  grow(two, 24);
  grow(one, 20);
  assert.throws(() => grow(one, 40), /67,108,864 bytes/);
  one.clear();
  // What is announced counts when a part of it has come.
  one.expect(45 * MIB);
  one.append(PIECE, 0, 1000);
  assert.throws(() => one.append(PIECE, 0, MIB), ResponsesTooLargeError);
  one.clear();
  one.expect(35 * MIB);
  one.append(PIECE, 0, MIB);
  assert.throws(() => budget.take(6 * MIB), ResponsesTooLargeError);
  one.clear();
  two.clear();
  const free = new GrowingBytes();
  grow(free, 80);
  grow(one, 80);
  assert.deepEqual([free.length, one.length], [80 * MIB, 80 * MIB]);
});
