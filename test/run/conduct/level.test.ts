import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeasurementModePlan } from "../../../src/plan/plan.ts";
import { LevelRun } from "../../../src/run/conduct/level.ts";
import { LevelError, LevelFrame } from "../../../src/run/conduct/level-frame.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { starterOf } from "../send/fake-client.ts";
import { makeLevel, measureLevel, settleWithin } from "./make-level.ts";

const MODES: readonly { readonly mode: MeasurementModePlan; readonly durationNs: number; readonly trials: number }[] = [
  { mode: { kind: "time-windows", windowMs: 500, stabilityPct: 10, maxTrials: 5 }, durationNs: 1.8e9, trials: 3 },
  {
    mode: { kind: "count-windows", requestsPerWindow: 50, stabilityPct: 10, maxTrials: 5 },
    durationNs: 3e9,
    trials: 3,
  },
  { mode: { kind: "duration", durationMs: 700 }, durationNs: 0.7e9, trials: 1 },
  { mode: { kind: "requests", count: 30 }, durationNs: 0.3e9, trials: 1 },
  { mode: { kind: "until-resolved", windowMs: 400, maxMs: 4000, withinRatio: 0.1 }, durationNs: 0.8e9, trials: 2 },
];

for (const { mode, durationNs, trials } of MODES)
  test(`a level is measured by the plan's mode: ${mode.kind}`, async () => {
    const { result } = await measureLevel(makeLevel({ mode }), 1);
    assert.deepEqual(
      [result.outcome, result.trials, result.window.durationNs, result.level, result.unit],
      ["measured", trials, durationNs, 1, "concurrency"],
    );
  });

test("a level that follows another begins where that one ended", async () => {
  const { clock, context, driver } = makeLevel({ mode: { kind: "duration", durationMs: 500 } });
  await starterOf(driver).start({ kind: "closed", concurrency: 1 }, Number.POSITIVE_INFINITY);
  const run = new LevelRun(context, 1);
  const startNs = clock.nowNs();
  await clock.advanceMs(200);
  run.continueAt(startNs);
  const { window } = await settleWithin(clock, 60_000, run.measure()).finally(() => driver.close());
  assert.deepEqual([window.startNs, window.durationNs], [startNs, 0.5e9]);
});

const frameOf = (parts: Parameters<typeof makeLevel>[0] = {}): LevelFrame => {
  const { context } = makeLevel(parts);
  return new LevelFrame(context, 3);
};

test("the latency limit is compared in whole milliseconds", () => {
  const frame = frameOf({ latencyLimitMs: 5 });
  for (const [latencyNs, isOver] of [
    [4.999e6, false],
    [5e6, true],
    [5.9e6, true],
  ] as const)
    assert.equal(frame.isOverLimit(makeWindow({ latenciesNs: [latencyNs] })), isOver, `${latencyNs}`);
  assert.equal(frame.isOverLimit(makeWindow({ latenciesNs: [] })), false);
});

test("merged windows are counted, and the result is their sum", async () => {
  const frame = frameOf();
  assert.equal(frame.windowCount, 1);
  const merged = frame.merge([makeWindow({ latenciesNs: [1e6, 2e6] }), makeWindow({ latenciesNs: [3e6] })]);
  assert.deepEqual([frame.windowCount, merged.requestCount], [2, 3]);
  assert.deepEqual([(await frame.result("measured", merged, 2, {})).level, frame.hasHandedOver], [3, false]);
});

test("one window without any request is an error, unless the next load follows", async () => {
  const empty = makeWindow({ latenciesNs: [] });
  await assert.rejects(frameOf().finish(empty, []), LevelError);
  const { context } = makeLevel();
  const handOver = { isLast: false, prepare: () => Promise.resolve(), change: () => undefined };
  const { outcome } = await new LevelFrame({ ...context, handOver }, 1).finish(empty, []);
  assert.equal(outcome, "measured");
});
