import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { KeptEvents } from "../../src/transport/kept-events.ts";

/** Adds events as they stand in one read, and returns what each way of reading them gives. */
function keep(events: readonly Uint8Array[], most: number) {
  const kept = new KeptEvents();
  const read = Buffer.concat(events);
  let addedBytes = 0;
  let end = 0;
  for (const [i, { length }] of events.entries()) {
    end += length;
    addedBytes += kept.add(10 * i, read, end - length, end);
  }
  read.fill(0);
  const visited: Uint8Array[] = [];
  kept.visit((bytes, start, stop) => visited.push(bytes.slice(start, stop)));
  const [all, last, joined] = [kept.copies(), kept.lastCopies(most), Buffer.concat(kept.parts())];
  const { count, readsNs, lengths } = kept;
  const seen = { count, readsNs: [...readsNs], lengths: [...lengths], visited, all, last, joined, addedBytes };
  kept.release();
  assert.deepEqual([kept.count, kept.copies()], [0, []]);
  return seen;
}

test("a stream's events are read as they were added, also in memory that another stream has used", () => {
  const event = fc.oneof(
    { arbitrary: fc.uint8Array({ maxLength: 300 }), weight: 8 },
    { arbitrary: fc.uint8Array({ minLength: 4000, maxLength: 4200, size: "max" }), weight: 1 },
    { arbitrary: fc.uint8Array({ minLength: 9000, maxLength: 9001, size: "max" }), weight: 1 },
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), fc.nat({ max: 4 }), (events, most) => {
      const seen = keep(events, most);
      assert.deepEqual([seen.count, seen.lengths], [events.length, events.map(({ length }) => length)]);
      assert.deepEqual(
        seen.readsNs,
        events.map((_, i) => 10 * i),
      );
      const plain = events.map((one) => [...one]);
      const listed = (some: readonly Uint8Array[]): number[][] => some.map((one) => [...one]);
      assert.deepEqual(listed(seen.visited), plain);
      assert.deepEqual(listed(seen.all), plain);
      assert.deepEqual(listed(seen.last), most === 0 ? [] : plain.slice(-most));
      assert.deepEqual([...seen.joined], plain.flat());
      assert.ok(seen.addedBytes >= seen.joined.length, "counts at least the memory of the events");
    }),
  );
});
