import assert from "node:assert/strict";
import { test } from "node:test";
import { SequenceDeal } from "../../../src/run/send/sequence-deal.ts";

const first = (): number => 0;

test("a sequence belongs to the lane of its number", () => {
  const deal = new SequenceDeal(5, 2, true, first);
  assert.deepEqual([deal.take(0), deal.take(0), deal.take(0), deal.take(0)].slice(3), [undefined]);
  assert.deepEqual(
    [1, 3].map((sequence) => deal.isBusy(sequence)),
    [false, false],
  );
  assert.deepEqual(
    [0, 2, 4].map((sequence) => deal.isBusy(sequence)),
    [true, true, true],
  );
});

test("a serial sequence waits for its answer before it goes on", () => {
  const deal = new SequenceDeal(1, 1, true, first);
  assert.equal(deal.take(0), 0);
  assert.equal(deal.take(0), undefined);
  deal.giveBack(0);
  assert.equal(deal.take(0), 0);
});

test("others send one request after the other, and are busy until the last is answered", () => {
  const deal = new SequenceDeal(1, 1, false, first);
  assert.deepEqual([deal.take(0), deal.take(0)], [0, 0]);
  deal.giveBack(0);
  assert.equal(deal.isBusy(0), true);
  deal.giveBack(0);
  assert.equal(deal.isBusy(0), false);
});

test("one of the lane's sequences that can go on is drawn", () => {
  const draws = [0.99, 0, 0];
  const deal = new SequenceDeal(3, 1, true, () => draws.shift() as number);
  assert.deepEqual([deal.take(0), deal.take(0), deal.take(0)], [2, 0, 1]);
});

test("a sequence that is to be ended is taken though it was not drawn", () => {
  const deal = new SequenceDeal(2, 1, true, first);
  deal.takeForEnd(1);
  assert.deepEqual([deal.isBusy(1), deal.take(0), deal.take(0)], [true, 0, undefined]);
});

test("a request without a sequence is remembered by its lane, once", () => {
  const deal = new SequenceDeal(2, 2, true, first);
  deal.block(1, 500);
  assert.deepEqual([deal.unblock(0), deal.unblock(1), deal.unblock(1)], [undefined, 500, undefined]);
});
