import assert from "node:assert/strict";
import { test } from "node:test";
import { EndMarks } from "../../../src/measure/tokens/end-marks.ts";

const marked = { isMarked: true, mark: "[DONE]", eventCount: 1 };
const unmarked = { ...marked, isMarked: false };

test("the first mark decides that a server marks the end of its streams", () => {
  const marks = new EndMarks();
  assert.deepEqual([marks.note(unmarked), marks.state], [false, "unknown"]);
  assert.deepEqual([marks.note(marked), marks.state], [true, "marked"]);
  assert.deepEqual([marks.note(marked), marks.note(unmarked), marks.state], [false, false, "marked"]);
});

test("1,000 streams without one decide that it does not", () => {
  const marks = new EndMarks();
  for (let stream = 1; stream < 1000; stream++) assert.equal(marks.note(unmarked), false);
  assert.deepEqual([marks.note(unmarked), marks.state], [true, "unmarked"]);
});

test("responses that are not streams decide nothing", () => {
  const marks = new EndMarks();
  for (let answer = 0; answer < 2000; answer++) marks.note(undefined);
  assert.equal(marks.state, "unknown");
});
