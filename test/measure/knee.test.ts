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
});
