import assert from "node:assert/strict";
import { test } from "node:test";
import type { FailedResponse, MeasuredRequest } from "../../../src/measure/tokens/answered-request.ts";
import { EndMarks } from "../../../src/measure/tokens/end-marks.ts";
import { MeasuredQueue } from "../../../src/measure/tokens/measured-queue.ts";

/** A queue, and what it passed on: a request's number, with why it failed; `!` before a failure. */
function makeQueue() {
  const passed: string[] = [];
  const endMarks = new EndMarks();
  const queue = new MeasuredQueue(
    {
      onMeasured: (request) =>
        passed.push(`${numberOf(request)}${request.error === undefined ? "" : ` ${request.error}`}`),
      onFailure: (failure) => passed.push(`!${numberOf(failure)}`),
    },
    endMarks,
  );
  const add = (number: number, cutError?: string): void =>
    queue.add({ number, answered: {} } as unknown as MeasuredRequest, cutError);
  const fail = (number: number): void => queue.addFailure({ number } as unknown as FailedResponse);
  return { queue, endMarks, passed, add, fail };
}

const numberOf = (entry: unknown): number => (entry as { number: number }).number;

test("responses count only while a measurement is open, failures always", () => {
  const { queue, passed, add, fail } = makeQueue();
  add(1);
  fail(2);
  queue.open();
  add(3);
  queue.close();
  add(4);
  assert.deepEqual(passed, ["!2", "3"]);
});

test("what comes between two windows waits until it is known whether another follows", () => {
  const { queue, passed, add, fail } = makeQueue();
  queue.open();
  add(1);
  queue.hold();
  add(2);
  fail(3);
  assert.deepEqual(passed, ["1"]);
  queue.release();
  assert.deepEqual(passed, ["1", "2", "!3"]);
  queue.hold();
  add(4);
  fail(5);
  queue.finish();
  assert.deepEqual(passed, ["1", "2", "!3", "!5"], "responses after the last window do not count");
});

for (const [state, expected] of [
  ["marked", ["1 cut", "2", "!3"]],
  ["unmarked", ["1", "2", "!3"]],
  ["unknown", ["1", "2", "!3"]],
] as const)
  test(`a stream without its end waits, and all behind it: the server turns out to be ${state}`, () => {
    const { queue, endMarks, passed, add, fail } = makeQueue();
    queue.open();
    add(1, "cut");
    add(2);
    fail(3);
    assert.deepEqual(passed, []);
    endMarks.state = state;
    if (state === "unknown") queue.finish();
    else queue.decide();
    assert.deepEqual(passed, expected);
  });

test("once it is known nothing waits", () => {
  const { queue, endMarks, passed, add } = makeQueue();
  queue.open();
  endMarks.state = "marked";
  add(1, "cut");
  assert.deepEqual(passed, ["1 cut"]);
});

test("without a sink nothing is kept", () => {
  const queue = new MeasuredQueue(undefined, new EndMarks());
  queue.open();
  queue.add({} as MeasuredRequest, undefined);
  queue.finish();
});
