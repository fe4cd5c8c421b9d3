import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MeasurementModePlan } from "../../../../src/plan/plan.ts";
import { LevelError } from "../../../../src/run/conduct/level-frame.ts";
import { makeLevel, measureLevel } from "../make-level.ts";

const windows: MeasurementModePlan = { kind: "time-windows", windowMs: 1000, stabilityPct: 10, maxTrials: 5 };

describe("time windows", () => {
  test("last 1.2 times the interval, and three that agree are merged", async () => {
    const { result, tookMs } = await measureLevel(makeLevel({ mode: windows }), 2);
    assert.deepEqual([result.outcome, result.trials, result.window.durationNs], ["measured", 3, 3.6e9]);
    assert.ok(tookMs >= 3600 && tookMs <= 3620, `${tookMs}`);
    // Two requests at once of 10 ms each, less or more the one at an edge.
    assert.ok(Math.abs(result.window.requestCount - 720) <= 4, `${result.window.requestCount}`);
    assert.ok(Math.abs(result.window.latency.mean - 10e6) < 1, `${result.window.latency.mean}`);
  });

  test("are repeated while the server changes, and only the last three count", async () => {
    const level = makeLevel({ mode: windows });
    const { result } = await measureLevel(level, 1, async ({ clock, server }) => {
      clock.after(2000, () => {
        server.latencyMs = 20;
      });
    });
    assert.deepEqual([result.outcome, result.trials], ["measured", 5]);
    assert.ok(Math.abs(result.window.latency.mean - 20e6) < 1e6, `${result.window.latency.mean}`);
  });

  test("end unstable after the most trials", async () => {
    const level = makeLevel({ mode: windows });
    const { result } = await measureLevel(level, 1, async ({ clock, server }) => {
      clock.every(1200, () => {
        server.latencyMs *= 1.5;
      });
    });
    assert.deepEqual([result.outcome, result.trials, result.instability?.windows.length], ["unstable", 5, 3]);
  });

  test("without any response are an error, reported as they occur", async () => {
    const empty: number[] = [];
    const level = makeLevel({ mode: windows, observer: { onEmptyWindow: (trial) => empty.push(trial) } });
    level.server.latencyMs = Number.POSITIVE_INFINITY;
    await assert.rejects(measureLevel(level, 1), LevelError);
    assert.deepEqual(empty, [1, 2, 3, 4, 5]);
  });

  test("are an error if one of them is empty, which says so", async () => {
    const level = makeLevel({ mode: windows });
    const measured = measureLevel(level, 1, async ({ clock, server }) => {
      clock.every(1200, () => {
        server.latencyMs *= 1.5;
      });
      clock.after(4000, () => {
        server.latencyMs = Number.POSITIVE_INFINITY;
      });
    });
    await assert.rejects(measured, { name: "LevelError", message: "no request succeeded in 1 of the last 3 windows" });
  });

  test("are over the limit where their latency reaches it", async () => {
    for (const [latencyLimitMs, outcome] of [
      [10, "over-limit"],
      [11, "measured"],
    ] as const) {
      const { result } = await measureLevel(makeLevel({ mode: windows, latencyLimitMs }), 1);
      assert.equal(result.outcome, outcome, `${latencyLimitMs} ms`);
    }
  });

  test("end with the run, with the measurements so far", async () => {
    const { result, tookMs } = await measureLevel(makeLevel({ mode: windows }), 1, async ({ clock, signal }) => {
      clock.after(1500, () => signal.interrupt());
    });
    assert.deepEqual([result.outcome, result.trials], ["partial", 1]);
    assert.ok(tookMs <= 1520, `${tookMs}`);
    assert.ok(Math.abs(result.window.requestCount - 150) <= 1, `${result.window.requestCount}`);
  });
});

test("count windows are checked once a second until they have their requests", async () => {
  const mode = { kind: "count-windows", requestsPerWindow: 150, stabilityPct: 10, maxTrials: 5 } as const;
  const { result } = await measureLevel(makeLevel({ mode }), 1);
  assert.deepEqual([result.outcome, result.trials, result.window.durationNs], ["measured", 3, 6e9]);
  assert.ok(Math.abs(result.window.requestCount - 600) <= 3, `${result.window.requestCount}`);
});
