import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type SequenceOptions, type SequencePlace, Sequences } from "../../src/load/sequences.ts";
import { DEFAULT_SEQUENCES } from "../../src/plan/sequences.ts";
import { createRandom } from "../../src/runtime/random.ts";
import { checkSequences } from "../run/send/sequence-traffic.ts";

/** How requests make up sequences. */

function makeSequences(plan: Partial<SequenceOptions["plan"]>, streamLengths: readonly number[] = []): Sequences {
  return new Sequences({ plan: { ...DEFAULT_SEQUENCES, ...plan }, streamLengths, random: createRandom(7) });
}

function take(sequences: Sequences, index: number, count: number): SequencePlace[] {
  return Array.from({ length: count }, () => sequences.next(index));
}

test("a sequence has 20 requests by default, 20 % more or less", () => {
  const places = take(makeSequences({}), 0, 2000);
  const cut = places.findLastIndex(({ isEnd }) => isEnd) + 1;
  const { lengths } = checkSequences(places.slice(0, cut));
  assert.ok(lengths.every((length) => length >= 16 && length <= 24));
  assert.ok(new Set(lengths).size > 4, "the lengths vary");
});

test("ids count up from the first, and come again after the last of their range", () => {
  const ids = (plan: Partial<SequenceOptions["plan"]>): number[] =>
    take(makeSequences({ length: 1, lengthVariationPct: 0, ...plan }), 0, 5).map(({ id }) => id);
  assert.deepEqual(ids({}), [1, 2, 3, 4, 5]);
  assert.deepEqual(ids({ startId: 100, idCount: 3 }), [100, 101, 102, 100, 101]);
  assert.deepEqual(ids({ startId: 9, idCount: 1 }), [9, 9, 9, 9, 9]);
});

test("an id that is in use is passed over for the sequence's own last one", () => {
  const sequences = makeSequences({ length: 2, lengthVariationPct: 0, idCount: 2 });
  assert.deepEqual([sequences.next(0).id, sequences.next(1).id], [1, 2]);
  assert.equal(sequences.next(1).isEnd, true);
  // Id 1 would be next, and is still open.
  assert.equal(sequences.next(1).id, 2);
});

test("a configured length varies around its value and is never below 1", () => {
  const places = take(makeSequences({ length: 3, lengthVariationPct: 400 }), 0, 500);
  const cut = places.findLastIndex(({ isEnd }) => isEnd) + 1;
  const { lengths } = checkSequences(places.slice(0, cut));
  assert.equal(Math.min(...lengths), 1);
  assert.ok(Math.max(...lengths) <= 15);
});

test("every new sequence takes the next data stream, and has its length or goes around it", () => {
  const streams = [2, 5, 1];
  const sequences = makeSequences({}, streams);
  const begun: number[] = [];
  // Two sequences at a time, the first ahead of the second.
  for (let turn = 0; turn < 300; turn++) {
    const place = sequences.next(turn % 3 === 0 ? 1 : 0);
    if (place.isStart) begun.push(place.stream);
    assert.equal(place.isEnd, place.step === (streams[place.stream] as number) - 1);
  }
  assert.ok(begun.length > 30);
  assert.deepEqual(
    begun,
    begun.map((_, index) => index % streams.length),
  );
  const around = take(makeSequences({ length: 5, lengthVariationPct: 0 }, [2]), 0, 5);
  assert.deepEqual(
    around.map(({ step }) => step),
    [0, 1, 0, 1, 0],
  );
});

test("an open sequence is ended with the data of its last step", () => {
  const sequences = makeSequences({}, [4]);
  assert.equal(sequences.isOpen(0), false);
  sequences.next(0);
  assert.equal(sequences.isOpen(0), true);
  assert.deepEqual(sequences.end(0), { id: 1, isStart: false, isEnd: true, stream: 0, step: 3 });
  assert.equal(sequences.isOpen(0), false);
});

test("with any settings, sequences are complete, and no two open ones share an id", () => {
  fc.assert(
    fc.property(
      fc.record({
        length: fc.option(fc.integer({ min: 1, max: 9 })),
        lengthVariationPct: fc.integer({ min: 0, max: 200 }),
        startId: fc.integer({ min: 1, max: 1000 }),
        spareIds: fc.option(fc.integer({ min: 0, max: 5 })),
        streamLengths: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
        count: fc.integer({ min: 1, max: 6 }),
        order: fc.array(fc.nat(), { maxLength: 200 }),
      }),
      ({ length, lengthVariationPct, startId, spareIds, streamLengths, count, order }) => {
        const idCount = spareIds === null ? null : count + spareIds;
        const sequences = makeSequences({ length, lengthVariationPct, startId, idCount }, streamLengths);
        const places = order.map((pick) => sequences.next(pick % count));
        for (let index = 0; index < count; index++) if (sequences.isOpen(index)) places.push(sequences.end(index));
        const { maxOpen } = checkSequences(places);
        assert.ok(maxOpen <= count);
        for (const { id } of places) {
          assert.ok(id >= startId && (idCount === null || id < startId + idCount));
        }
      },
    ),
  );
});

test("fewer ids than sequences are an error, not a hang", () => {
  const sequences = makeSequences({ length: 5, idCount: 1 });
  sequences.next(0);
  assert.throws(() => sequences.next(1), /1 ids are too few for 2 sequences/);
});
