import assert from "node:assert/strict";
import { test } from "node:test";
import type { LevelSearch } from "../../../src/load/load-mode.ts";
import type { LimitState } from "../../../src/measure/limits/judge-limits.ts";
import type { LevelResult } from "../../../src/result/run-result.ts";
import { findHighest, findMaxOf } from "../../../src/run/conduct/find-highest.ts";
import { RunSignal } from "../../../src/run/run-signal.ts";
import { makeLevel } from "../../report/make-result.ts";

const SEARCH: LevelSearch = {
  unit: "concurrency",
  levels: { kind: "range", start: 1, end: 64, step: 1 },
  search: "highest",
};

async function triedWith(keeps: (level: number) => boolean, stopAt?: number): Promise<number[]> {
  const tried: number[] = [];
  const signal = new RunSignal();
  await findHighest(SEARCH, signal, async (level) => {
    tried.push(level);
    if (level === stopAt) return "ended";
    return keeps(level) ? "kept" : "over";
  });
  return tried;
}

test("the search doubles and bisects", async () => {
  assert.deepEqual(await triedWith((level) => level <= 5), [1, 2, 4, 8, 6, 5]);
});

test("a run that has ended is not continued", async () => {
  assert.deepEqual(await triedWith(() => true, 4), [1, 2, 4]);
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
  assert.deepEqual(findMaxOf(levels, true), { highest: 1, next: 2, isResolved: false });
});

test("a search that ended early is not certain", () => {
  assert.deepEqual(findMaxOf(levelsOf({ 1: "kept" }), false), { highest: 1, isResolved: false });
  assert.deepEqual(findMaxOf(levelsOf({ 1: "kept" }), true), { highest: 1, isResolved: true });
});

test("without a level that keeps the limits there is no answer", () => {
  assert.deepEqual(findMaxOf(levelsOf({ 1: "broken" }), true), { next: 1, isResolved: true });
});
