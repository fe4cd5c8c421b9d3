import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MeasurementModePlan } from "../../../src/plan/plan.ts";
import type { LevelResult } from "../../../src/result/run-result.ts";
import { LevelError, LevelRun } from "../../../src/run/level/level.ts";
import { type LevelUnderTest, makeLevel, settleWithin } from "./make-level.ts";

const ENDLESS = Number.POSITIVE_INFINITY;
const windows: MeasurementModePlan = { kind: "time-windows", windowMs: 1000, stabilityPct: 10, maxTrials: 5 };

interface Measured extends LevelUnderTest {
  readonly tookMs: number;
  readonly result: LevelResult;
}

/** Measures at this concurrency. @param act on the level, in the background */
async function measure(
  level: LevelUnderTest,
  concurrency: number,
  act: (level: LevelUnderTest) => Promise<void> = () => Promise.resolve(),
): Promise<Measured> {
  const { clock, context, meter, driver } = level;
  const { mode } = context.plan.measurement;
  await driver.start({ kind: "closed", concurrency }, mode.kind === "requests" ? (mode.count ?? 0) : ENDLESS);
  const run = new LevelRun(context, meter, concurrency);
  const startMs = clock.nowMs;
  const measured = run.begin(undefined).then(() => run.measure());
  void act(level);
  const result = await settleWithin(clock, 60_000, measured).finally(() => driver.close());
  return { ...level, tookMs: clock.nowMs - startMs, result };
}

describe("time windows", () => {
  test("last 1.2 times the interval, and three that agree are merged", async () => {
    const { result, tookMs } = await measure(makeLevel({ mode: windows }), 2);
    assert.deepEqual([result.outcome, result.trials, result.window.durationNs], ["measured", 3, 3.6e9]);
    assert.ok(tookMs >= 3600 && tookMs <= 3620, `${tookMs}`);
    // Two requests at once of 10 ms each, less or more the one at an edge.
    assert.ok(Math.abs(result.window.requestCount - 720) <= 4, `${result.window.requestCount}`);
    assert.ok(Math.abs(result.window.latency.meanNs - 10e6) < 1, `${result.window.latency.meanNs}`);
  });

  test("are repeated while the server changes, and only the last three count", async () => {
    const level = makeLevel({ mode: windows });
    const { result } = await measure(level, 1, async ({ clock, server }) => {
      clock.after(2000, () => {
        server.latencyMs = 20;
      });
    });
    assert.deepEqual([result.outcome, result.trials], ["measured", 5]);
    assert.ok(Math.abs(result.window.latency.meanNs - 20e6) < 1e6, `${result.window.latency.meanNs}`);
  });

  test("end unstable after the most trials", async () => {
    const level = makeLevel({ mode: windows });
    const { result } = await measure(level, 1, async ({ clock, server }) => {
      clock.every(1200, () => {
        server.latencyMs *= 1.5;
      });
    });
    assert.deepEqual([result.outcome, result.trials, result.instability?.windows.length], ["unstable", 5, 3]);
  });

  test("without any response are an error, reported as they occur", async () => {
    const told: number[] = [];
    const level = makeLevel({ mode: windows, observer: { onEmptyWindow: (trial) => told.push(trial) } });
    level.server.latencyMs = ENDLESS;
    await assert.rejects(measure(level, 1), LevelError);
    assert.deepEqual(told, [1, 2, 3, 4, 5]);
  });

  test("are over the limit where their latency reaches it", async () => {
    for (const [latencyLimitMs, outcome] of [
      [10, "over-limit"],
      [11, "measured"],
    ] as const) {
      const { result } = await measure(makeLevel({ mode: windows, latencyLimitMs }), 1);
      assert.equal(result.outcome, outcome, `${latencyLimitMs} ms`);
    }
  });

  test("end with the run, with the measurements so far", async () => {
    const { result, tookMs } = await measure(makeLevel({ mode: windows }), 1, async ({ clock, signal }) => {
      clock.after(1500, () => signal.interrupt());
    });
    assert.deepEqual([result.outcome, result.trials], ["partial", 1]);
    assert.ok(tookMs <= 1520, `${tookMs}`);
    assert.ok(Math.abs(result.window.requestCount - 150) <= 1, `${result.window.requestCount}`);
  });
});

test("count windows are checked once a second until they have their requests", async () => {
  const mode = { kind: "count-windows", requestsPerWindow: 150, stabilityPct: 10, maxTrials: 5 } as const;
  const { result } = await measure(makeLevel({ mode }), 1);
  assert.deepEqual([result.outcome, result.trials, result.window.durationNs], ["measured", 3, 6e9]);
  assert.ok(Math.abs(result.window.requestCount - 600) <= 3, `${result.window.requestCount}`);
});

test("a number of requests ends with the last answer", async () => {
  const { result, driver } = await measure(makeLevel({ mode: { kind: "requests", count: 25 } }), 5);
  assert.deepEqual([result.outcome, result.window.requestCount, result.window.durationNs], ["measured", 25, 50e6]);
  assert.equal(driver.sentCount, 25);
});

describe("a duration", () => {
  test("without a grace period ends at its moment", async () => {
    const { result } = await measure(makeLevel({ mode: { kind: "duration", durationMs: 995 } }), 1);
    assert.deepEqual([result.window.durationNs, result.window.requestCount], [995e6, 99]);
    assert.equal(result.timeline.length, 10);
  });

  test("with one contains the answers to what was sent within it", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 995, graceMs: 500 } });
    const { result } = await measure(level, 1);
    assert.deepEqual([result.window.durationNs, result.window.requestCount], [1000e6, 100]);
  });

  test("cancels requests without an answer when the grace period is over", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 995, graceMs: 500 } });
    const { result, tookMs } = await measure(level, 3, async ({ clock, server }) => {
      clock.after(900, () => {
        server.latencyMs = ENDLESS;
      });
    });
    const { requestCount, cancelledCount, failedCount, durationNs } = result.window;
    assert.deepEqual([requestCount, cancelledCount, failedCount, durationNs], [270, 3, 0, 995e6]);
    assert.ok(tookMs >= 1495 && tookMs <= 1510, `${tookMs}`);
  });
});
