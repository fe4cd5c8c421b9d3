import assert from "node:assert/strict";
import { test } from "node:test";
import { GpuTally } from "../../src/measure/gpu-tally.ts";
import { mergeWindows } from "../../src/measure/merge.ts";
import { makeWindow } from "./make-window.ts";

/** Readings of GPUs, joined over windows. */

function tallyOf(...powers: readonly (readonly number[])[]): GpuTally {
  const tally = new GpuTally();
  for (const [a, b] of powers) {
    const watts = new Map<string, number>();
    if (b !== undefined) watts.set("b", b);
    if (a !== undefined) watts.set("a", a);
    tally.add({ powerWatts: watts });
  }
  return tally;
}

test("mean, maximum, first and last of each GPU, in the order of their UUIDs", () => {
  const tally = tallyOf([10, 1], [30, 2], [20]);
  assert.equal(tally.count, 3);
  assert.deepEqual(tally.uuids, ["a", "b"]);
  assert.deepEqual(tally.of("powerWatts"), [
    ["a", { count: 3, mean: 20, max: 30, first: 10, last: 20 }],
    ["b", { count: 2, mean: 1.5, max: 2, first: 1, last: 2 }],
  ]);
  assert.deepEqual(tally.of("utilizationRatio"), []);
});

test("windows join weighted by their readings, whatever the GPUs and readings they have", () => {
  const windows = [tallyOf([10]), new GpuTally(), tallyOf([40, 5], [40], [40])].map((gpu) => ({
    ...makeWindow(),
    gpu,
  }));
  const merged = mergeWindows(windows).gpu;
  assert.equal(merged?.count, 4);
  assert.deepEqual(merged?.of("powerWatts"), [
    ["a", { count: 4, mean: 32.5, max: 40, first: 10, last: 40 }],
    ["b", { count: 1, mean: 5, max: 5, first: 5, last: 5 }],
  ]);
});

test("windows without metrics have none when they are merged", () => {
  assert.equal(mergeWindows([makeWindow(), makeWindow()]).gpu, undefined);
});
