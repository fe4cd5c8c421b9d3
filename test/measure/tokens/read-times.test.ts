import assert from "node:assert/strict";
import { test } from "node:test";
import { separateReads } from "../../../src/measure/tokens/read-times.ts";

const CASES: readonly (readonly [what: string, readNs: readonly number[], offsetsNs: readonly number[]])[] = [
  ["of different reads keep their times", [15, 20], [5, 10]],
  ["of one read follow each other, by half a nanosecond for each byte", [15, 15, 15], [5, 9, 13]],
  ["never come with the send", [10, 10], [2, 6]],
  ["of a later read wait for those before", [15, 15, 16, 30], [5, 9, 13, 20]],
  ["are rounded to whole nanoseconds", [15.6, 20.4], [6, 10]],
];

for (const [what, readNs, offsetsNs] of CASES)
  test(`responses ${what}`, () => {
    // Each has four bytes; the first counts from the send.
    const reads = readNs.map((time) => ({ readNs: time, body: new Uint8Array(4) }));
    assert.deepEqual(separateReads(10, reads), offsetsNs);
  });
