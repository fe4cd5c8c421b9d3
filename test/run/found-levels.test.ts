import assert from "node:assert/strict";
import { test } from "node:test";
import type { LimitState } from "../../src/measure/limits/judge-limits.ts";
import type { LevelResult } from "../../src/result/run-result.ts";
import { addLevel, findMaxOf } from "../../src/run/found-levels.ts";
import { makeWindow } from "../measure/make-window.ts";
import { makeLevel } from "../report/make-result.ts";

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
  addLevel(levels, measured(1, 3), true);
  addLevel(levels, measured(1, 4), true);
  assert.deepEqual(summary(levels), [
    [1, 4, [1, 3]],
    [2, 2, []],
  ]);
});

test("a partial measurement does not replace its level", () => {
  const levels = [measured(1, 1)];
  addLevel(levels, measured(1, 9, "partial"), true);
  assert.deepEqual(summary(levels), [[1, 1, [9]]]);
});

test("a level that was not measured before is added, and one that is given twice is a level twice", () => {
  const levels = [measured(1, 1)];
  addLevel(levels, measured(5, 2), true);
  assert.deepEqual(summary(levels), [
    [1, 1, []],
    [5, 2, []],
  ]);
});

function levelsOf(states: Readonly<Record<number, LimitState>>): LevelResult[] {
  return Object.entries(states).map(([level, state]) =>
    makeLevel({ level: Number(level), limits: { state, verdicts: [] } }),
  );
}

test("the answer is the highest level below all that do not keep the limits", () => {
  const levels = levelsOf({ 1: "kept", 2: "kept", 4: "broken", 8: "kept" });
  assert.deepEqual(findMaxOf(levels, true), { highest: 2, next: 4, isResolved: true });
});

test("an answer below an unresolved level is not certain", () => {
  const levels = levelsOf({ 1: "kept", 2: "unresolved", 4: "broken" });
  assert.deepEqual(findMaxOf(levels, true), { highest: 1, next: 4, isResolved: false });
});

test("an answer whose ends are close enough is certain, whatever lies between them", () => {
  const levels = levelsOf({ 100: "kept", 103: "unresolved", 109: "broken" });
  assert.deepEqual(findMaxOf(levels, true, 0.1), { highest: 100, next: 109, isResolved: true });
  assert.deepEqual(findMaxOf(levels, true, 0.08), { highest: 100, next: 109, isResolved: false });
});

test("an upper end that is unresolved is certain when it is close enough to the answer", () => {
  assert.deepEqual(findMaxOf(levelsOf({ 95: "kept", 100: "unresolved" }), true, 0.1), {
    highest: 95,
    isResolved: true,
  });
  assert.deepEqual(findMaxOf(levelsOf({ 50: "kept", 100: "unresolved" }), true, 0.1), {
    highest: 50,
    isResolved: false,
  });
});

test("a level that could not be sent leaves the answer open, however close it is", () => {
  const limits = { state: "unresolved", verdicts: [], reason: "only 95 of 102 requests/s were sent" } as const;
  const levels = [...levelsOf({ 100: "kept" }), makeLevel({ level: 102, limits })];
  assert.deepEqual(findMaxOf(levels, true, 0.1), { highest: 100, isResolved: false });
});

test("a search that ended early is not certain", () => {
  assert.deepEqual(findMaxOf(levelsOf({ 1: "kept" }), false), { highest: 1, isResolved: false });
  assert.deepEqual(findMaxOf(levelsOf({ 1: "kept" }), true), { highest: 1, isResolved: true });
});

test("without a level that keeps the limits there is no answer", () => {
  assert.deepEqual(findMaxOf(levelsOf({ 1: "broken" }), true), { next: 1, isResolved: true });
});
