import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { constantArrivals, fromMidGap } from "../../../../src/load/arrivals.ts";
import { explainMissing, metricValue } from "../../../../src/measure/metrics/read-metric.ts";
import type { AssertionPlan } from "../../../../src/plan/assertions.ts";
import type { MeasurementModePlan } from "../../../../src/plan/plan.ts";
import { mlperfRulesOf, prepareLoad } from "../../../../src/registry/load-modes.ts";
import { LevelRun } from "../../../../src/run/conduct/level.ts";
import { LevelError } from "../../../../src/run/conduct/level-frame.ts";
import type { LoadSender, Moment, SenderState } from "../../../../src/run/send/messages.ts";
import { sleepMs } from "../../../../src/runtime/clock.ts";
import { starterOf } from "../../send/fake-client.ts";
import { makeLevel, measureLevel, settleWithin } from "../make-level.ts";

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

describe("a duration", () => {
  test("without a grace period ends at its moment", async () => {
    const { result } = await measureLevel(makeLevel({ mode: { kind: "duration", durationMs: 995 } }), 1);
    assert.deepEqual([result.window.durationNs, result.window.requestCount], [995e6, 99]);
    assert.equal(result.timeline.length, 10);
  });

  for (const [perSec, sentCount, sendingMs] of [
    [10, 10, 1000],
    [100, 100, 1000],
  ] as const)
    test(`has the rate of a schedule of ${perSec} per second when the client is late at its end`, async () => {
      const level = makeLevel({
        mode: { kind: "duration", durationMs: 1000 },
        lanes: { laneCount: 1, isSync: false },
      });
      const { clock, context, driver } = level;
      const arrivals = fromMidGap(constantArrivals(perSec));
      await starterOf(driver).start({ kind: "scheduled", arrivals }, Number.POSITIVE_INFINITY);
      const run = new LevelRun({ ...context, isScheduled: true, canLanesWait: true }, perSec);
      clock.after(970, () => clock.spendMs(68));
      const measured = run.begin(undefined).then(() => run.measure());
      const { window } = await settleWithin(clock, 2000, measured).finally(() => driver.close());
      const ms = (ns: number): number => Math.round(ns / 1e6);
      assert.deepEqual([window.sentCount, ms(window.durationNs), ms(window.sendingNs)], [sentCount, 1038, sendingMs]);
    });

  test("of a schedule ends at its moment, also when one of several senders stands still", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 1000 }, lanes: { laneCount: 1, isSync: false } });
    const { clock, context, driver } = level;
    const sender: LoadSender = Object.assign(Object.create(context.sender), {
      until: async (moment: Moment): Promise<SenderState> => {
        await sleepMs(4000, clock);
        return context.sender.until(moment);
      },
    });
    await starterOf(driver).start({ kind: "scheduled", arrivals: constantArrivals(100) }, Number.POSITIVE_INFINITY);
    const run = new LevelRun({ ...context, sender, isScheduled: true, canLanesWait: true }, 100);
    // The other senders send nothing after the end of the schedule.
    const begun = run.begin(undefined).then(() => context.sender.change({ endNs: run.startNs + 1e9 }));
    const measured = begun.then(() => run.measure());
    const { window } = await settleWithin(clock, 15_000, measured).finally(() => driver.close());
    const perSec = window.requestCount / (window.durationNs / 1e9);
    assert.ok(Math.abs(perSec - 100) <= 2, `${perSec} per second in ${window.durationNs} ns`);
  });

  test("with one contains the responses to what was sent within it", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 995, graceMs: 500 } });
    const { result } = await measureLevel(level, 1);
    assert.deepEqual([result.window.durationNs, result.window.requestCount], [1000e6, 100]);
  });

  test("cancels requests without a response when the grace period is over", async () => {
    const level = makeLevel({ mode: { kind: "duration", durationMs: 995, graceMs: 500 } });
    const { result, tookMs } = await measureLevel(level, 3, async ({ clock, server }) => {
      clock.after(900, () => {
        server.latencyMs = Number.POSITIVE_INFINITY;
      });
    });
    const { requestCount, cancelledCount, failedCount, durationNs } = result.window;
    assert.deepEqual([requestCount, cancelledCount, failedCount, durationNs], [270, 3, 0, 995e6]);
    assert.ok(tookMs >= 1495 && tookMs <= 1510, `${tookMs}`);
    // The wait for what never came is not part of the level, in the window or in its time line.
    const { timeline, window } = result;
    const inFlightNs = timeline.reduce((sum, one) => sum + one.meanOutstanding * (one.endNs - one.startNs), 0);
    assert.ok(Math.abs(inFlightNs - window.inFlightSumNs) < 1, `${inFlightNs} and ${window.inFlightSumNs}`);
    assert.ok(Math.abs(inFlightNs - 3 * 995e6) < 3 * 10e6, `${inFlightNs}`);
  });
});

test("a stall of the server is dated from the start of the run", async () => {
  const level = makeLevel({ mode: { kind: "duration", durationMs: 10_000 } });
  const { result } = await measureLevel(level, 2, async ({ clock, server }) => {
    await clock.advanceMs(0);
    clock.after(4000, () => {
      server.latencyMs = 2300;
    });
    clock.after(4100, () => {
      server.latencyMs = 10;
    });
  });
  const [gap, ...others] = result.window.gaps ?? [];
  assert.deepEqual(others, []);
  // The clock starts at 50 s, and the run at 0.
  assert.ok(Math.abs((gap?.startNs ?? 0) - 54e9) < 0.1e9, `${gap?.startNs}`);
  assert.ok(Math.abs((gap?.endNs ?? 0) - 56.3e9) < 0.1e9, `${gap?.endNs}`);
  assert.ok(Math.abs((gap?.typicalNs ?? 0) - 10e6) < 2e6, `${gap?.typicalNs}`);
});

test("a number of requests ends with the last response", async () => {
  const { result, driver } = await measureLevel(makeLevel({ mode: { kind: "requests", count: 25 } }), 5);
  assert.deepEqual([result.outcome, result.window.requestCount, result.window.durationNs], ["measured", 25, 50e6]);
  assert.equal(driver.sentCount, 25);
});

describe("requests at the times of the data", () => {
  const SCHEDULES: readonly (readonly [timesMs: readonly number[], perSec: number | undefined])[] = [
    [[0], undefined],
    [[500], undefined],
    [[0, 0, 0, 0], undefined],
    [[700, 700], undefined],
    [[0, 250, 500, 750], 4],
    [[500, 600, 700], 10],
  ];
  for (const [timesMs, perSec] of SCHEDULES)
    test(`at ${timesMs.join(", ")} ms were sent at ${perSec ?? "no rate"}`, async () => {
      const load = { kind: "fixed-schedule" } as const;
      const level = makeLevel({
        ...{ load, mode: { kind: "requests", count: null } },
        lanes: { laneCount: 1, isSync: false },
      });
      const drive = prepareLoad(load).drive(1, timesMs);
      assert.ok(drive.kind === "scheduled");
      const run = new LevelRun({ ...level.context, isScheduled: true, canLanesWait: true, due: drive.due }, 1);
      await starterOf(level.driver).start(drive, timesMs.length);
      const measured = run.begin(undefined).then(() => run.measure());
      const result = await settleWithin(level.clock, 2000, measured).finally(() => level.driver.close());
      assert.equal(result.window.sentCount, timesMs.length);
      const value = metricValue({ key: "sentPerSec" }, result, 1);
      if (perSec === undefined) {
        assert.equal(value, undefined);
        assert.match(explainMissing({ key: "sentPerSec" }, result, 1) ?? "", /fewer than two requests were due/);
      } else assert.ok(Math.abs((value ?? 0) / perSec - 1) < 0.02, `${value}`);
    });
});

test("a load without queries of MLPerf has no verdict of MLPerf", async () => {
  const level = makeLevel({ mode: { kind: "requests", count: 5 } });
  assert.equal(mlperfRulesOf(level.context.plan), undefined);
  assert.equal((await measureLevel(level, 1)).result.mlperf, undefined);
});

const mode: MeasurementModePlan = { kind: "until-resolved", windowMs: 1000, maxMs: 10_000, withinRatio: 0.1 };
const median = (limitMs: number): AssertionPlan => ({
  metric: { key: "latency", statistic: 50 },
  comparison: "below",
  limit: limitMs * 1e6,
});

describe("until the limits are resolved", () => {
  test("measures two windows when the limit is far away, and merges them", async () => {
    for (const [limitMs, state] of [
      [50, "kept"],
      [1, "broken"],
    ] as const) {
      const { result, tookMs } = await measureLevel(makeLevel({ mode, limits: [median(limitMs)] }), 2);
      assert.deepEqual([result.outcome, result.trials, result.limits?.state], ["measured", 2, state]);
      assert.deepEqual([result.window.durationNs, tookMs], [2e9, 2000]);
      assert.ok(Math.abs(result.window.requestCount - 400) <= 2, `${result.window.requestCount}`);
    }
  });

  test("reports windows without a response as they occur", async () => {
    const empty: number[] = [];
    const level = makeLevel({ mode, limits: [median(50)], observer: { onEmptyWindow: (trial) => empty.push(trial) } });
    level.server.latencyMs = Number.POSITIVE_INFINITY;
    const { result } = await measureLevel(level, 1);
    assert.deepEqual([result.limits?.state, empty], ["unresolved", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]);
  });

  test("ends with the run, with the measurements so far", async () => {
    const { result } = await measureLevel(makeLevel({ mode, limits: [median(50)] }), 1, async ({ clock, signal }) => {
      clock.after(1500, () => signal.interrupt());
    });
    assert.equal(result.outcome, "partial");
    assert.ok(Math.abs(result.window.requestCount - 150) <= 1, `${result.window.requestCount}`);
  });
});
