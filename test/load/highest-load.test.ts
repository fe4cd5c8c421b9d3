import assert from "node:assert/strict";
import { test } from "node:test";
import { highestKept, lowestNotKept, nextLoad } from "../../src/load/highest-load.ts";
import { createLadder } from "../../src/load/load-ladder.ts";

/** Returns the loads tried when those up to `knee` keep the limits. */
function triedUpTo(knee: number, max: number, isWhole = true): { tried: number[]; highest: number | undefined } {
  const ladder = createLadder({ kind: "range", min: 1, max }, isWhole);
  const loads = { kept: [] as number[], notKept: [] as number[] };
  const tried: number[] = [];
  for (let load = nextLoad(ladder, loads); load !== undefined; load = nextLoad(ladder, loads)) {
    tried.push(load);
    (load <= knee ? loads.kept : loads.notKept).push(load);
  }
  return { tried, highest: highestKept(loads) };
}

test("every knee is found", () => {
  for (let knee = 1; knee < 50; knee++) assert.equal(triedUpTo(knee, 512).highest, knee);
});

test("loads double, and are bisected above the knee", () => {
  assert.deepEqual(triedUpTo(11, 512).tried, [1, 2, 4, 8, 16, 12, 10, 11]);
});

test("a range that keeps the limits ends at its highest load", () => {
  const { tried, highest } = triedUpTo(100, 24);
  assert.deepEqual([tried, highest], [[1, 2, 4, 8, 16, 24], 24]);
});

test("nothing above a lowest load that breaks the limits is tried", () => {
  assert.deepEqual(triedUpTo(0, 512), { tried: [1], highest: undefined });
});

test("rates are found within 2 %", () => {
  for (const knee of [1.3, 7.7, 123, 4567]) {
    const highest = triedUpTo(knee, 10_000, false).highest as number;
    assert.ok(highest <= knee && highest > knee * 0.975, `${highest} of ${knee}`);
  }
});

test("a load that keeps the limits above one that does not is not the answer", () => {
  const loads = { kept: [1, 2, 8], notKept: [4] };
  assert.deepEqual([highestKept(loads), lowestNotKept(loads)], [2, 4]);
});
