import assert from "node:assert/strict";
import { test } from "node:test";
import { sum } from "../../../src/plan/units.ts";
import { REQUEST_COUNTS } from "../../../src/result/run-result.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { NO_PROGRESS, startFakeRun } from "./fake-run.ts";

/** The state of a run, from which everything that is shown while it lasts comes. */

test("levels add up to the run, and histograms hold the completed requests, whenever they ended", () => {
  const run = startFakeRun(makePlan());
  run.end(3);
  run.state.onLevelStart("concurrency", 1, true);
  for (let i = 0; i < 3000; i++) run.end(1);
  run.state.onLevelStart("concurrency", 1, false);
  run.end(undefined);
  run.end(2);
  run.state.onLevelStart("concurrency", 2, false);
  run.end(2);
  run.state.finish();
  const { levels, ...state } = run.state.snapshot() ?? assert.fail();
  for (const name of REQUEST_COUNTS) assert.equal(state[name], sum(levels.map((level) => level[name])));
  assert.deepEqual([state.sentCount, state.completedCount, state.failedCount], [3004, 3003, 1]);
  for (const level of levels) assert.equal(level.latency.count, level.completedCount);
  const places = levels.map(({ place, completedCount }) => [place?.level, place?.isWarmup, completedCount]);
  // The request before the first level belongs to it.
  assert.deepEqual(places, [
    [1, true, 3001],
    [1, false, 1],
    [2, false, 1],
  ]);
});

test("where tokens are measured, the time to the first chunk is not shown: it is not the time to the first token", () => {
  const tokens = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } as const;
  for (const [measurement, isShown] of [
    [{}, true],
    [{ tokens }, false],
  ] as const) {
    const run = startFakeRun(makePlan({ target: { isStreaming: true }, measurement }));
    run.state.onLevelStart("concurrency", 1, false);
    run.end(5);
    run.pass(1);
    const { recent, levels } = run.state.snapshot() ?? assert.fail();
    assert.deepEqual([recent.firstResponseNs !== undefined, recent.latencyNs !== undefined], [isShown, true]);
    // Nor exported: over HTTP it is the time to the first byte, which servers send before any token is made.
    assert.equal(levels[0]?.firstResponse !== undefined, isShown);
  }
});

test("a level that comes again counts on, also in a repeated run", () => {
  const plan = makePlan();
  const run = startFakeRun(plan);
  run.state.onLevelStart("concurrency", 1, false);
  run.end(1);
  // The next run counts from 0.
  const again = { ...NO_PROGRESS };
  run.state.onProgress({ counts: () => again, drainRecords: () => {} });
  run.state.onLevelStart("concurrency", 1, false);
  run.state.finish();
  const { levels, completedCount } = run.state.snapshot() ?? assert.fail();
  assert.deepEqual([levels.length, completedCount], [1, 1]);
});

test("a run of many levels keeps a bounded number of them, and loses no request", () => {
  const run = startFakeRun(makePlan());
  for (let level = 1; level <= 500; level++) {
    run.state.onLevelStart("concurrency", level, false);
    run.end(1);
  }
  const { levels, completedCount, place } = run.state.snapshot() ?? assert.fail();
  assert.deepEqual([levels.length, completedCount, place?.level], [101, 500, 500]);
  assert.equal(sum(levels.map(({ latency }) => latency.count)), 500);
});

test("frequent readers get the same snapshot, and the last one stays after the end", () => {
  const run = startFakeRun(makePlan());
  run.state.onLevelStart("concurrency", 1, false);
  const first = run.state.snapshot();
  run.end(1);
  run.pass(0.05);
  assert.equal(run.state.snapshot(), first);
  run.pass(0.1);
  assert.equal(run.state.snapshot()?.completedCount, 1);
  run.state.finish();
  const last = run.state.snapshot();
  run.pass(10);
  assert.equal(run.state.snapshot(), last);
  assert.equal(last?.isFinished, true);
});

const cases: readonly (readonly [what: string, plan: Parameters<typeof makePlan>[0], left: number | undefined])[] = [
  ["a duration", { measurement: { mode: { kind: "duration", durationMs: 10_000 } } }, 8],
  ["a duration with warm-up", { measurement: { mode: { kind: "duration", durationMs: 10_000 }, warmupMs: 5000 } }, 13],
  [
    "a duration at each of two levels",
    {
      measurement: { mode: { kind: "duration", durationMs: 10_000 } },
      load: { kind: "concurrency", levels: { kind: "range", start: 1, end: 3, step: 2 }, search: "linear" },
    },
    18,
  ],
  [
    "levels that are searched",
    {
      measurement: { mode: { kind: "duration", durationMs: 10_000 } },
      load: { kind: "concurrency", levels: { kind: "range", start: 1, end: 8, step: 1 }, search: "binary" },
    },
    undefined,
  ],
  ["a number of requests", { measurement: { mode: { kind: "requests", count: 10 } } }, 2],
  [
    "windows until they agree",
    { measurement: { mode: { kind: "time-windows", windowMs: 1000, stabilityPct: 10, maxTrials: 10 } } },
    undefined,
  ],
];
for (const [what, change, leftSec] of cases) {
  test(`time left with ${what}: ${leftSec ?? "not known"}`, () => {
    const run = startFakeRun(makePlan(change));
    run.state.onLevelStart("concurrency", 1, false);
    for (let i = 0; i < 5; i++) run.end(1);
    run.pass(2);
    const { progress } = run.state.snapshot() ?? assert.fail();
    assert.equal(progress?.leftSec, leftSec);
    run.state.discard();
  });
}

test("waits for requests in flight take none of the time of the levels, and say how long they last at most", () => {
  const run = startFakeRun(makePlan({ measurement: { mode: { kind: "duration", durationMs: 10_000 } } }));
  run.state.onLevelStart("concurrency", 1, false);
  const read = (): readonly [doneRatio: number | undefined, waitSec: number | undefined] => {
    const { progress, waitSec } = run.state.snapshot() ?? assert.fail();
    return [progress?.doneRatio, waitSec];
  };
  run.state.onWait(60_000);
  run.pass(57);
  assert.deepEqual(read(), [0, 3]);
  run.pass(5);
  assert.deepEqual(read(), [0, 0]);
  run.state.onWait(undefined);
  assert.deepEqual(read(), [0, undefined]);
  run.pass(5);
  assert.deepEqual(read(), [0.5, undefined]);
  run.pass(5);
  run.state.onWait(30_000);
  run.pass(8);
  assert.deepEqual(read(), [1, 22]);
  run.state.finish();
  assert.deepEqual(read(), [1, undefined]);
});
