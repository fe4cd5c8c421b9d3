import assert from "node:assert/strict";
import { test } from "node:test";
import { separateReads } from "../../../src/measure/tokens/read-times.ts";

const CASES: readonly (readonly [what: string, readNs: readonly number[], offsetsNs: readonly number[]])[] = [
  ["of different reads keep their times", [15, 20], [5, 10]],
  ["of one read precede it, by half a nanosecond for each byte", [110, 110, 110], [92, 96, 100]],
  ["of one read follow those before", [20, 30, 30, 31, 31, 50], [10, 16, 20, 21, 22, 40]],
  ["never come with the send", [10, 10], [1, 2]],
  ["that are too close have a nanosecond each", [15, 15, 16, 16, 16, 30], [1, 5, 6, 7, 8, 20]],
  ["whose clock goes back keep their order", [20, 18, 40], [6, 10, 30]],
  ["are rounded to whole nanoseconds", [15.6, 20.4], [6, 10]],
];

for (const [what, readNs, offsetsNs] of CASES)
  test(`responses ${what}`, () => {
    // Each has four bytes.
    const reads = readNs.map((time) => ({ readNs: time, body: new Uint8Array(4) }));
    assert.deepEqual(separateReads(10, reads), offsetsNs);
  });
