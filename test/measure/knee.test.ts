import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isPastKnee, kneeOf, type LoadPoint } from "../../src/measure/knee.ts";

/** Where throughput stops growing. */

const points = (...perSec: readonly number[]): LoadPoint[] =>
  perSec.map((one, index) => ({ load: 2 ** index, perSec: one }));

describe("the knee", () => {
  const cases: readonly (readonly [
    name: string,
    perSec: readonly number[],
    knee: number | undefined,
    isPast: boolean,
  ])[] = [
    ["of nothing", [], undefined, false],
    ["of one level", [100], 1, false],
    ["of a server that scales", [100, 200, 400], 4, false],
    ["of one flat level more", [100, 200, 205], 2, false],
    ["of two flat levels more", [100, 200, 205, 208], 2, true],
    ["that moves on while throughput creeps up", [100, 105, 112], 2, false],
    ["of a server that collapses", [100, 180, 20, 5], 2, true],
    ["of a server that serves one at a time", [50, 50, 50], 1, true],
    ["after a level that was slow by chance", [100, 90, 200], 4, false],
    ["of a server that answers nothing", [0, 0], undefined, true],
  ];
  for (const [name, perSec, knee, isPast] of cases)
    test(name, () => {
      assert.equal(kneeOf(points(...perSec)), knee);
      assert.equal(isPastKnee(points(...perSec)), isPast);
    });

  test("is not passed while throughput grows with the load, however close the loads are", () => {
    for (let first = 1; first <= 100; first += 3) {
      const growing = Array.from({ length: 60 }, (_, index) => ({
        load: first + index,
        perSec: 100 * (first + index),
      }));
      for (let count = 1; count <= growing.length; count++)
        assert.equal(isPastKnee(growing.slice(0, count)), false, `${count} loads from ${first}`);
    }
  });
});
