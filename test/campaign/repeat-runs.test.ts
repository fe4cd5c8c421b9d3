import assert from "node:assert/strict";
import { test } from "node:test";
import { repeatRuns, unstartedRun } from "../../src/campaign/repeat-runs.ts";
import type { RepeatPlan } from "../../src/plan/plan.ts";
import { RunError } from "../../src/plan/problem.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { makeWindow } from "../measure/make-window.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeLevel, makeResult } from "../report/make-result.ts";

/** How often a run is repeated, with runs of known latencies. */

const plan = makePlan();
const mean = { key: "latency", statistic: "mean" } as const;

/** A run whose requests take these milliseconds, at one level each. */
function runOf(latenciesMs: readonly number[], change: Partial<RunResult> = {}): RunResult {
  const levels = latenciesMs.map((ms, index) =>
    makeLevel({ level: index + 1, window: makeWindow({ latenciesNs: [ms * 1e6] }) }),
  );
  return makeResult(plan, levels, change);
}

function repeat(repeatPlan: RepeatPlan, runs: readonly RunResult[]) {
  return repeatRuns(plan, repeatPlan, async (run) => runs[run - 1] as RunResult);
}

const steady = Array.from({ length: 20 }, (_, index) => runOf([100 + (index % 2)]));
const noisy = Array.from({ length: 20 }, (_, index) => runOf([index % 2 === 0 ? 50 : 150]));

test("a number of runs is that many", async () => {
  const { runs, precision } = await repeat({ atLeast: 5, atMost: 5 }, steady);
  assert.deepEqual([runs.length, precision], [5, undefined]);
});

test("runs end when the interval is narrow enough, but not before the least number", async () => {
  const until = { metric: mean, ratio: 0.05 };
  const { runs, precision } = await repeat({ atLeast: 3, atMost: 10, until }, steady);
  assert.equal(runs.length, 3);
  assert.ok(precision?.isReached === true && (precision.ratio ?? 1) <= 0.05);
  assert.equal((await repeat({ atLeast: 6, atMost: 10, until }, steady)).runs.length, 6);
});

test("runs end at the most, and say that the interval is too wide", async () => {
  const { runs, precision } = await repeat({ atLeast: 2, atMost: 7, until: { metric: mean, ratio: 0.05 } }, noisy);
  assert.equal(runs.length, 7);
  assert.ok(precision?.isReached === false && (precision.ratio ?? 0) > 0.05);
});

test("every level must be precise", async () => {
  const until = { metric: mean, ratio: 0.05 };
  const runs = Array.from({ length: 6 }, (_, index) => runOf([100, index % 2 === 0 ? 50 : 150]));
  const { precision } = await repeat({ atLeast: 2, atMost: 6, until }, runs);
  assert.equal(precision?.isReached, false);
  const missing = [runOf([100, 100]), runOf([100]), runOf([100, 100])];
  assert.deepEqual((await repeat({ atLeast: 2, atMost: 3, until }, missing)).precision, {
    ratio: undefined,
    isReached: false,
  });
});

test("every phase must be precise, also where several have the same load", async () => {
  const until = { metric: mean, ratio: 0.05 };
  const phased = (...latenciesMs: readonly number[]): RunResult =>
    makeResult(
      plan,
      latenciesMs.map((ms, index) =>
        makeLevel({ level: 4, phase: { index, label: "a" }, window: makeWindow({ latenciesNs: [ms * 1e6] }) }),
      ),
    );
  const steadyPhases = await repeat({ atLeast: 2, atMost: 2, until }, [phased(100, 50), phased(100, 50)]);
  assert.deepEqual(steadyPhases.precision, { ratio: 0, isReached: true });
  const { precision } = await repeat({ atLeast: 2, atMost: 2, until }, [phased(100, 50), phased(100, 150)]);
  assert.equal(precision?.isReached, false);
});

test("a search must be precise at the highest load of each run, and one without an answer does not count", async () => {
  const until = { metric: mean, ratio: 0.05 };
  const found = (latenciesMs: readonly number[], findMax: RunResult["findMax"]): RunResult =>
    runOf(latenciesMs, { findMax });
  const three = [
    found([10, 20], { highest: 1, next: 2, isResolved: true }),
    found([70, 10], { highest: 2, next: 3, isResolved: true }),
    found([90, 90], { highest: 2, isResolved: false }),
  ];
  const { runs, precision } = await repeat({ atLeast: 3, atMost: 3, until }, three);
  assert.deepEqual([runs.length, precision], [3, { ratio: 0, isReached: true }]);
  const none = found([10], { next: 1, isResolved: true });
  const lost = await repeat({ atLeast: 2, atMost: 2, until }, [three[0] as RunResult, none]);
  assert.deepEqual(lost.precision, { ratio: undefined, isReached: false });
});

test("a run that ended early is the last one", async () => {
  const error = new RunError("stalled", "the server stalled", "Look at it.");
  const until = { metric: mean, ratio: 0.05 };
  for (const end of [{ isInterrupted: true }, { error }]) {
    const runs = [runOf([100]), runOf([100], end), runOf([100])];
    const found = await repeat({ atLeast: 3, atMost: 3 }, runs);
    assert.equal(found.runs.length, 2);
    assert.equal((await repeat({ atLeast: 3, atMost: 3, until }, runs)).precision?.isReached, false);
  }
});

test("a run that could not start has an error or was interrupted, and no requests", () => {
  const error = new RunError("unreachable", "no connection", "Start it.");
  const run = unstartedRun(runOf([100]), error);
  assert.deepEqual([run.error, run.isInterrupted, run.sentCount, run.levels.length], [error, false, 0, 0]);
  const interrupted = unstartedRun(runOf([100]), new RunError("interrupted", "interrupted", ""));
  assert.deepEqual([interrupted.error, interrupted.isInterrupted], [undefined, true]);
});
