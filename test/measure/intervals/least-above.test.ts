import assert from "node:assert/strict";
import { test } from "node:test";
import { leastAbove } from "../../../src/measure/intervals/least-above.ts";

test("the least number at which a statement holds is found, whatever it is, and the upper end is not asked about", () => {
  for (let least = 1; least <= 40; least++) {
    const asked: number[] = [];
    const holds = (value: number): boolean => {
      asked.push(value);
      return value >= least;
    };
    assert.equal(leastAbove(0, 40, holds), least);
    assert.ok(asked.every((value) => value > 0 && value < 40));
    assert.ok(asked.length <= 6, `${asked.length} questions`);
  }
});
