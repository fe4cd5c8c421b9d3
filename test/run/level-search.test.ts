import assert from "node:assert/strict";
import { test } from "node:test";
import type { LevelSearch } from "../../src/load/load-mode.ts";
import { searchLevels } from "../../src/run/level-search.ts";
import { RunSignal } from "../../src/run/run-signal.ts";

/** The levels that a search measures, when those above `most` are too much, or the run is stopped at one. */
async function measuredBy(search: LevelSearch, most: number, stopAt?: number): Promise<number[]> {
  const signal = new RunSignal();
  const measured: number[] = [];
  await searchLevels(search, signal, async (level) => {
    measured.push(level);
    if (level === stopAt) signal.interrupt();
    return !signal.isStopped && level <= most;
  });
  return measured;
}

function range(start: number, end: number | null, step: number, search: "linear" | "binary"): LevelSearch {
  return { unit: "concurrency", levels: { kind: "range", start, end, step }, search };
}

test("a linear search goes on until a level is too much or there is none left", async () => {
  assert.deepEqual(await measuredBy(range(2, 9, 3, "linear"), 100), [2, 5, 8]);
  assert.deepEqual(await measuredBy(range(2, null, 2, "linear"), 5), [2, 4, 6]);
  const list = { unit: "concurrency", levels: { kind: "list", values: [4, 1, 9, 2] }, search: "linear" } as const;
  assert.deepEqual(await measuredBy(list, 8), [4, 1, 9]);
});

test("a binary search closes in on the largest level that is not too much", async () => {
  assert.deepEqual(await measuredBy(range(1, 16, 1, "binary"), 5), [1, 16, 8, 4, 6, 5]);
  assert.deepEqual(await measuredBy(range(1, 16, 4, "binary"), 5), [1, 16, 8, 4]);
  const rates = { ...range(1, 4, 0.5, "binary"), unit: "request-rate" } as const;
  assert.deepEqual(await measuredBy(rates, 2), [1, 4, 2.5, 1.75, 2.125]);
});

test("a binary search whose start is too much, or whose end is not, ends there", async () => {
  assert.deepEqual(await measuredBy(range(3, 16, 1, "binary"), 2), [3]);
  assert.deepEqual(await measuredBy(range(3, 16, 1, "binary"), 16), [3, 16]);
  await assert.rejects(measuredBy(range(1, null, 1, "binary"), 5), /needs a range with an end/);
});

test("a run that is stopped measures no level more", async () => {
  assert.deepEqual(await measuredBy(range(1, 9, 1, "linear"), 100, 3), [1, 2, 3]);
  assert.deepEqual(await measuredBy(range(1, 16, 1, "binary"), 5, 8), [1, 16, 8]);
});
