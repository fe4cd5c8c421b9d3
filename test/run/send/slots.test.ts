import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "../../../src/run/send/slots.ts";

const request = { step: 3, sequenceId: 7, isSequenceEnd: true, isCut: true };

test("a slot knows its request, and others do not", () => {
  const slots = new Slots();
  slots.schedule(2, 100, true);
  slots.fill(2, request, 5);
  assert.equal(slots.count, 3);
  const { intendedNs, isDelayed, steps, sequences, sequenceIds, endsSequence, isCut } = slots;
  assert.deepEqual(
    [intendedNs[2], isDelayed[2], steps[2], sequences[2], sequenceIds[2], endsSequence[2], isCut[2]],
    [100, true, 3, 5, 7, true, true],
  );
  assert.deepEqual([intendedNs[1], isDelayed[1], steps[1]], [Number.NaN, false, 0]);
});

test("a slot's data can be copied, independent of later changes", () => {
  const slots = new Slots();
  const kept = new Slots();
  slots.schedule(0, 100, true);
  slots.fill(0, request, 5);
  kept.copy(4, slots, 0);
  slots.schedule(0, Number.NaN, false);
  slots.fill(0, { ...request, step: 9, isCut: false }, 6);
  const { intendedNs, isDelayed, steps, sequences, sequenceIds, endsSequence, isCut } = kept;
  assert.deepEqual(
    [intendedNs[4], isDelayed[4], steps[4], sequences[4], sequenceIds[4], endsSequence[4], isCut[4]],
    [100, true, 3, 5, 7, true, true],
  );
});

test("a lane takes its own slots, the one it released last first", () => {
  const slots = new Slots();
  slots.grow(6);
  slots.assignLanes(2);
  assert.deepEqual([slots.take(0), slots.take(0), slots.take(1)], [0, 2, 1]);
  slots.release(0);
  assert.deepEqual([slots.take(0), slots.take(0)], [0, 4]);
});

test("a lane without a free slot gets one of a new round, whose others are free", () => {
  const slots = new Slots();
  slots.grow(3);
  slots.assignLanes(3);
  assert.deepEqual([slots.take(1), slots.take(1)], [1, 4]);
  assert.equal(slots.count, 6);
  assert.deepEqual([slots.take(0), slots.take(0), slots.take(2), slots.take(2)].toSorted(), [0, 2, 3, 5]);
  assert.equal(slots.count, 6);
});
