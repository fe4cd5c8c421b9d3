import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WeightedTurns } from "../../../src/run/mix/mixed-feed.ts";

function take(turns: WeightedTurns, count: number): number[] {
  return Array.from({ length: count }, () => turns.next());
}

describe("turns by weight", () => {
  const cases: readonly (readonly number[])[] = [
    [1],
    [1, 1],
    [9, 1],
    [1, 9],
    [3, 2, 1],
    [5, 5, 1],
    [7, 1, 1, 13],
    [100, 3],
  ];
  for (const weights of cases)
    test(`${weights.join(":")} are exact after every sum of the weights, and never a turn away in between`, () => {
      const turns = new WeightedTurns(weights);
      const sum = weights.reduce((total, weight) => total + weight, 0);
      const counts = weights.map(() => 0);
      for (let turn = 1; turn <= 3 * sum; turn++) {
        const index = turns.next();
        counts[index] = (counts[index] as number) + 1;
        const errors = weights.map((weight, at) => Math.abs((counts[at] as number) - (turn * weight) / sum));
        if (turn % sum === 0)
          assert.deepEqual(
            errors,
            weights.map(() => 0),
          );
        assert.ok(Math.max(...errors) < 1, `turn ${turn}: ${errors.join(", ")}`);
      }
    });
});

test("turns are spread, and a rewind starts over", () => {
  const turns = new WeightedTurns([5, 1, 1]);
  const first = take(turns, 7);
  assert.deepEqual(first, [0, 0, 1, 0, 2, 0, 0]);
  take(turns, 3);
  turns.rewind();
  assert.deepEqual(take(turns, 7), first);
});
