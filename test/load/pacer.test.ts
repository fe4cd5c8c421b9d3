import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Pacer } from "../../src/load/pacer.ts";

test("arrival i belongs to lane i modulo the number of lanes, in any order of calls", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.nat({ max: 7 }), { maxLength: 100 }),
      (laneCount, asked) => {
        let count = 0;
        const pacer = new Pacer(() => count++, laneCount);
        const turns = new Array<number>(laneCount).fill(0);
        for (const ask of asked) {
          const lane = ask % laneCount;
          assert.equal(pacer.nextDueNs(lane), lane + (turns[lane] as number) * laneCount);
          turns[lane] = (turns[lane] as number) + 1;
        }
      },
    ),
  );
});
