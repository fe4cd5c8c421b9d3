import assert from "node:assert/strict";
import { test } from "node:test";
import type { LevelSearch, PreparedPhase } from "../../../src/load/load-mode.ts";
import { type LevelVerdict, runSteps, Step } from "../../../src/run/conduct/step.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { phaseOf, type RunLevel, walkSteps } from "./walk-steps.ts";

/** The levels that a search measures, when those above `most` are too much, or the run is stopped at one. */
async function measuredBy(search: LevelSearch, most: number, stopAt?: number): Promise<number[]> {
  const signal = new RunSignal();
  const measured: number[] = [];
  const runLevel: RunLevel = async (level, repeat) => {
    assert.equal(repeat, 0);
    measured.push(level);
    if (level === stopAt) signal.interrupt();
    return signal.isStopped ? "ended" : level <= most ? "kept" : "broken";
  };
  await walkSteps(search, runLevel, { signal });
  return measured;
}

function range(start: number, end: number | null, step: number, search: LevelSearch["search"]): LevelSearch {
  return { unit: "concurrency", levels: { kind: "range", start, end, step }, search };
}

test("a linear search continues until a level is over the limit or none is left", async () => {
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

test("a binary search of one level measures it as its start and as its end, and an unstable level is too much", async () => {
  assert.deepEqual(await measuredBy(range(3, 3, 1, "binary"), 5), [3, 3]);
  assert.deepEqual(await measuredBy(range(3, 1, 1, "binary"), 5), [3, 1]);
  const measured: number[] = [];
  const unstable: RunLevel = async (level) => {
    measured.push(level);
    return level <= 5 ? "kept" : "ended";
  };
  await walkSteps(range(1, 16, 1, "binary"), unstable);
  assert.deepEqual(measured, [1, 16, 8, 4, 6, 5]);
});

test("a search for the highest level doubles and bisects", async () => {
  assert.deepEqual(await measuredBy(range(1, 64, 1, "highest"), 5), [1, 2, 4, 8, 6, 5]);
});

test("levels that are given twice are measured twice", async () => {
  const list = { unit: "concurrency", levels: { kind: "list", values: [4, 1, 4, 9, 2] }, search: "linear" } as const;
  assert.deepEqual(await measuredBy(list, 8), [4, 1, 4, 9]);
});

test("a run that is stopped measures no level more", async () => {
  assert.deepEqual(await measuredBy(range(1, 64, 1, "highest"), 100, 4), [1, 2, 4]);
  assert.deepEqual(await measuredBy(range(1, 9, 1, "linear"), 100, 3), [1, 2, 3]);
  assert.deepEqual(await measuredBy(range(1, 16, 1, "binary"), 5, 8), [1, 16, 8]);
});

/** Levels 2, 4, 6, 8: what each measurement of a level says; without an entry those above 6 are over the limit. */
type Said = Readonly<Record<number, readonly LevelVerdict[]>>;
const CONFIRMED: readonly (readonly [name: string, said: Said, measured: readonly number[]])[] = [
  ["a level over the limit and the one before it are confirmed", {}, [2, 4, 6, 8, 8, 6]],
  ["a level that is over once does not end the search", { 4: ["broken", "kept", "kept"] }, [2, 4, 4, 4, 6, 8, 8, 6]],
  ["a level that is over twice does", { 4: ["broken", "kept", "broken"] }, [2, 4, 4, 4, 2]],
  [
    "the level before that is over twice is not the one found",
    { 6: ["kept", "broken", "broken"] },
    [2, 4, 6, 8, 8, 6, 6, 4],
  ],
  ["the level before that is over once is", { 6: ["kept", "broken", "kept"] }, [2, 4, 6, 8, 8, 6, 6]],
  ["no level stands", { 2: ["broken", "broken"] }, [2, 2]],
  ["a level that is not stable ends the search without another", { 4: ["ended"] }, [2, 4]],
  ["a run that is stopped is not confirmed", { 8: ["broken", "ended"] }, [2, 4, 6, 8, 8]],
  ["nothing is confirmed where no limit is met", { 8: ["kept"] }, [2, 4, 6, 8]],
];
for (const [name, said, expected] of CONFIRMED) {
  test(`one noisy measurement does not decide where levels are confirmed: ${name}`, async () => {
    const measured: number[] = [];
    const runLevel: RunLevel = async (level, repeat) => {
      assert.equal(repeat, measured.filter((one) => one === level).length);
      measured.push(level);
      return said[level]?.[repeat] ?? (level <= 6 ? "kept" : "broken");
    };
    await walkSteps(range(2, 8, 2, "linear"), runLevel, { isConfirmed: true });
    assert.deepEqual(measured, expected);
  });
}

/** Walks through phases, of which some levels are not kept. Returns each step as `phase:level/draw`. */
async function walkPhases(
  phases: readonly PreparedPhase[],
  verdicts: Record<number, LevelVerdict> = {},
): Promise<string[]> {
  const walked: string[] = [];
  await runSteps(Step.first({ phases }, makePlan()), new RunSignal(), async (step) => {
    walked.push(`${step.load.phaseIndex}:${step.level}/${step.load.draw}`);
    return step.after(verdicts[step.level] ?? "kept");
  });
  return walked;
}

test("phases follow each other, and a level that is not kept ends its phase", async () => {
  const phases = [
    phaseOf(range(1, 3, 1, "linear"), "first"),
    phaseOf(range(5, 5, 1, "linear"), "second"),
    phaseOf(range(8, 9, 1, "linear"), "third"),
  ];
  assert.deepEqual(await walkPhases(phases), ["0:1/0", "0:2/1", "0:3/2", "1:5/0", "2:8/0", "2:9/1"]);
  assert.deepEqual(await walkPhases(phases, { 2: "ended", 8: "broken" }), ["0:1/0", "0:2/1", "1:5/0", "2:8/0"]);
});

test("a step does not change, whatever is asked about it", () => {
  const first = Step.first({ phases: [phaseOf(range(1, 16, 1, "binary"))] }, makePlan());
  const second = first?.after("kept");
  const levels = ["kept", "broken", "kept"] as const;
  assert.deepEqual(
    levels.map((verdict) => second?.after(verdict)?.level),
    [undefined, 8, undefined],
  );
  assert.deepEqual([first?.level, second?.level, first?.after("broken")], [1, 16, undefined]);
});

test("a search for the knee measures two levels above it, and continues while the throughput is not known", () => {
  const list = { kind: "list", values: [1, 2, 4, 8, 16, 32] } as const;
  const phases = [phaseOf({ unit: "concurrency", levels: list, search: "knee" })];
  const levelsWith = (perSecOf: (level: number) => number | undefined): number[] => {
    const levels: number[] = [];
    for (let step = Step.first({ phases }, makePlan()); step !== undefined; ) {
      levels.push(step.level);
      step = step.after("kept", perSecOf(step.level));
    }
    return levels;
  };
  assert.deepEqual(
    levelsWith((level) => Math.min(level, 4)),
    [1, 2, 4, 8, 16],
  );
  assert.deepEqual(
    levelsWith((level) => level),
    [1, 2, 4, 8, 16, 32],
  );
  assert.deepEqual(
    levelsWith(() => undefined),
    [1, 2, 4, 8, 16, 32],
  );
});
