import assert from "node:assert/strict";
import { test } from "node:test";
import { SequencePool } from "../../../src/run/send/sequence-pool.ts";

const first = (): number => 0;

test("a sequence belongs to the lane of its number", () => {
  const pool = new SequencePool(5, 2, true, first);
  assert.deepEqual([pool.take(0), pool.take(0), pool.take(0), pool.take(0)].slice(3), [undefined]);
  assert.deepEqual(
    [1, 3].map((sequence) => pool.isBusy(sequence)),
    [false, false],
  );
  assert.deepEqual(
    [0, 2, 4].map((sequence) => pool.isBusy(sequence)),
    [true, true, true],
  );
});

test("a serial sequence waits for its response before its next request", () => {
  const pool = new SequencePool(1, 1, true, first);
  assert.equal(pool.take(0), 0);
  assert.equal(pool.take(0), undefined);
  pool.release(0);
  assert.equal(pool.take(0), 0);
});

test("others send one request after the other, and are busy until the last is answered", () => {
  const pool = new SequencePool(1, 1, false, first);
  assert.deepEqual([pool.take(0), pool.take(0)], [0, 0]);
  pool.release(0);
  assert.equal(pool.isBusy(0), true);
  pool.release(0);
  assert.equal(pool.isBusy(0), false);
});

test("one of the lane's sequences that can continue is drawn", () => {
  const draws = [0.99, 0, 0];
  const pool = new SequencePool(3, 1, true, () => draws.shift() as number);
  assert.deepEqual([pool.take(0), pool.take(0), pool.take(0)], [2, 0, 1]);
});

test("a sequence that is to be ended is taken though it was not drawn", () => {
  const pool = new SequencePool(2, 1, true, first);
  pool.takeForEnd(1);
  assert.deepEqual([pool.isBusy(1), pool.take(0), pool.take(0)], [true, 0, undefined]);
});

test("a request without a sequence is remembered by its lane, once", () => {
  const pool = new SequencePool(2, 2, true, first);
  pool.block(1, 500);
  assert.deepEqual([pool.unblock(0), pool.unblock(1), pool.unblock(1)], [undefined, 500, undefined]);
});
