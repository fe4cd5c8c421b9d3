import assert from "node:assert/strict";
import { test } from "node:test";
import type { LevelResult } from "../../../src/result/run-result.ts";
import { repeatLevel } from "../../../src/run/conduct/level-repeats.ts";
import { makeWindow } from "../../measure/make-window.ts";

const measured = (level: number, trials: number, outcome: LevelResult["outcome"] = "measured"): LevelResult => ({
  unit: "concurrency",
  level,
  outcome,
  window: makeWindow(),
  trials,
  instability: undefined,
  isLatencyUnstable: false,
  hasServerCounters: false,
  timeline: [],
});

/** The levels with the trials of each, its repeats behind it. */
const summary = (levels: readonly LevelResult[]) =>
  levels.map(({ level, trials, repeats = [] }) => [level, trials, repeats.map((repeat) => repeat.trials)]);

test("the latest measurement replaces its level, and keeps the earlier ones", () => {
  const levels = [measured(1, 1), measured(2, 2)];
  repeatLevel(levels, measured(1, 3));
  repeatLevel(levels, measured(1, 4));
  assert.deepEqual(summary(levels), [
    [1, 4, [1, 3]],
    [2, 2, []],
  ]);
});

test("a partial measurement does not replace its level", () => {
  const levels = [measured(1, 1)];
  repeatLevel(levels, measured(1, 9, "partial"));
  assert.deepEqual(summary(levels), [[1, 1, [9]]]);
});

test("a level that was not measured before is added", () => {
  const levels = [measured(1, 1)];
  repeatLevel(levels, measured(5, 2));
  assert.deepEqual(summary(levels), [
    [1, 1, []],
    [5, 2, []],
  ]);
});
