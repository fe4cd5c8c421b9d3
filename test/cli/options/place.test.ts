import assert from "node:assert/strict";
import { test } from "node:test";
import { putValue, valueAt } from "../../../src/cli/options/place.ts";

/** Values by their place in settings. */

test("a value is found at its place, and nothing where a group is missing", () => {
  const settings = { a: { b: { c: 1 } }, none: null };
  assert.equal(valueAt(settings, "a.b.c"), 1);
  assert.deepEqual(valueAt(settings, "a.b"), { c: 1 });
  assert.equal(valueAt(settings, "none.b"), undefined);
  assert.equal(valueAt(settings, "x.y.z"), undefined);
});

test("a value is set without a change to groups that others share", () => {
  const shared = Object.freeze({ c: 1, d: 2 });
  const settings: { a: { b: object; e?: number } } = { a: Object.freeze({ b: shared }) };
  putValue(settings, "a.b.c", 3);
  putValue(settings, "a.e", 4);
  putValue(settings, "f.g", 5);
  assert.deepEqual(settings, { a: { b: { c: 3, d: 2 }, e: 4 }, f: { g: 5 } });
  assert.deepEqual(shared, { c: 1, d: 2 });
});
