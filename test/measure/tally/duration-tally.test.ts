import assert from "node:assert/strict";
import { test } from "node:test";
import { DurationTally } from "../../../src/measure/tally/duration-tally.ts";

test("only the durations that are named are added, to the microsecond, below a second and above", () => {
  const tally = new DurationTally();
  tally.addAll(Float64Array.from([1999, 3_000_000_001, 5e9, 7]), 3);
  tally.addAll(Float64Array.from([1000]), 0);
  tally.addAll(Float64Array.from([2_000_000_500, 1000]), 2);
  const { count, min, max, values, upTo, bins } = tally.toSketch();
  assert.deepEqual([count, tally.count, min, max, bins], [5, 5, 1000, 5e9, undefined]);
  assert.deepEqual(
    [values, upTo],
    [
      [1000, 2_000_000_000, 3_000_000_000, 5e9],
      [2, 3, 4, 5],
    ],
  );
});
