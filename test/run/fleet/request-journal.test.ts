// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type JournalOptions, RequestJournal } from "../../../src/run/fleet/request-journal.ts";
import { systemClock } from "../../../src/runtime/clock.ts";

/** Batches and events are handled in their order, in bounded memory. */

interface Batch {
  readonly number: number;
  readonly bytes: Uint8Array;
}

function makeJournal(options: Partial<JournalOptions<Batch>> = {}) {
  const handled: (number | string)[] = [];
  const errors: unknown[] = [];
  const journal = new RequestJournal<Batch>({
    clock: systemClock,
    handle: ({ number, bytes }) => {
      assert.ok(bytes.every((byte) => byte === number));
      handled.push(number);
    },
    sizeOf: ({ bytes }) => bytes.length,
    fail: (error) => errors.push(error),
    ...options,
  });
  const add = (number: number): void => journal.addBatch({ number, bytes: new Uint8Array(1000).fill(number) });
  return { journal, handled, errors, add };
}

test("an event runs at once when nothing waits, and otherwise after what is before it", async () => {
  const { journal, handled, add } = makeJournal();
  journal.addEvent(() => handled.push("a"));
  assert.deepEqual(handled, ["a"]);
  add(1);
  journal.addEvent(() => handled.push("b"));
  add(2);
  assert.deepEqual(handled, ["a"]);
  await journal.finish();
  assert.deepEqual(handled, ["a", 1, "b", 2]);
});

test("above its memory, batches wait in a file, and come back in order and whole", async () => {
  const { journal, handled, errors, add } = makeJournal({ mostBytes: 3000 });
  const expected: (number | string)[] = [];
  for (let number = 0; number < 200; number++) {
    add(number);
    expected.push(number);
    if (number % 7 > 0) continue;
    journal.addEvent(() => handled.push(`after ${number}`));
    expected.push(`after ${number}`);
  }
  await journal.finish();
  for (let number = 200; number < 210; number++) add(number);
  await journal.finish();
  assert.deepEqual(errors, []);
  assert.deepEqual(handled, [...expected, ...Array.from({ length: 10 }, (_, at) => 200 + at)]);
});

test("a paused journal holds what is added, and passes it at once when it continues", () => {
  const { journal, handled, add } = makeJournal({ mostBytes: 3000 });
  journal.pause();
  for (let number = 0; number < 9; number++) add(number);
  assert.deepEqual(handled, []);
  assert.equal(journal.isIdle, false);
  journal.resume();
  assert.deepEqual(handled, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(journal.isIdle, true);
});

test("an error of a batch is reported, and the next ones are handled", async () => {
  const { journal, errors, add } = makeJournal({
    handle: ({ number }) => {
      if (number === 1) throw new Error("full");
    },
  });
  add(1);
  add(2);
  await journal.finish();
  assert.match(String(errors[0]), /full/);
  assert.equal(errors.length, 1);
});
