import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExpectedOutput } from "../../../src/inputs/batches.ts";
import { compareOutput } from "../../../src/run/judge/response-outputs.ts";

const expected = {
  name: "OUT",
  bytes: Uint8Array.of(1, 2, 3, 4),
  items: [
    { place: "data[0]", byteCount: 2 },
    { place: "data[1]", byteCount: 2 },
  ],
} as unknown as ExpectedOutput;

test("equal bytes are right", () => {
  assert.equal(compareOutput(expected, Uint8Array.of(1, 2, 3, 4), 0), undefined);
});

test("a difference names its entry of the data, and the byte within it", () => {
  const failure = compareOutput(expected, Uint8Array.of(1, 2, 3, 9), 0);
  assert.equal(failure?.kind, "validation");
  assert.equal(failure?.message, "Output doesn't match expected output: OUT differs at byte 1 (data[1])");
});

test("an output that is missing or has another size names the entries", () => {
  for (const [actual, count] of [
    [undefined, 0],
    [Uint8Array.of(1), 1],
  ] as const)
    assert.equal(
      compareOutput(expected, actual, 0)?.message,
      `Output size doesn't match expected size: OUT has ${count} bytes, expected 4 (data[0] to data[1])`,
    );
});
