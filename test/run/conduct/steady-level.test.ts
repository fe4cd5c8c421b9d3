import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { constantArrivals, poissonArrivals } from "../../../src/load/arrivals.ts";
import { type Drive, isScheduled } from "../../../src/load/drive.ts";
import { inferPerSec, sentPerSec } from "../../../src/measure/derived-values.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import { explainShortfall } from "../../../src/measure/rate-shortfall.ts";
import type { LevelResult } from "../../../src/result/run-result.ts";
import type { EarlyAbort } from "../../../src/run/conduct/early-abort.ts";
import { LevelRun } from "../../../src/run/conduct/level.ts";
import { measureSteady } from "../../../src/run/conduct/separate-levels.ts";
import { createRandom, drawExponential } from "../../../src/runtime/random.ts";
import { HealthMonitor } from "../../../src/telemetry/health-monitor.ts";
import type { FakeClock } from "../../runtime/fake-clock.ts";
import { makeLevel, STEP } from "./make-level.ts";
// Loaded before the fake clock moves, because a load imports it when it begins.
import "../../../src/run/send/scheduled-load.ts";

/** Levels of known loads and latencies on a simulated clock: throughput and sent rate must be those of the load. */

const MINUTE_MS = 60_000;

interface Case {
  readonly drive: () => Drive;
  readonly latencyMs: () => number;
  readonly levelMs: number;
  readonly warmUpMs: number;
  readonly bookkeepingMs?: number;
  readonly firstMs?: number | undefined;
}

/** What a level is measured with, whose load is waited for. */
function partsOf({ clock, context, signal }: ReturnType<typeof makeLevel>) {
  const { plan, sender } = context;
  return { plan, sender, clock, signal, observer: {}, failureLimits: { isWarmingUp: false }, step: STEP };
}

/** Measures a level as a scenario does: from the moment when its load is steady. */
async function measure({
  drive,
  latencyMs,
  levelMs,
  warmUpMs,
  bookkeepingMs = 0,
  firstMs,
}: Case): Promise<Measurement> {
  const load = drive();
  const isRate = isScheduled(load);
  const level = makeLevel({
    mode: { kind: "duration", durationMs: levelMs },
    ...(isRate ? { lanes: { laneCount: 1, isSync: false } } : {}),
    bookkeepingMs,
  });
  const { clock, context, driver, server } = level;
  level.load.drive = () => load;
  Object.defineProperty(server, "latencyMs", { get: latencyMs });
  const roundSize = load.kind === "closed" ? load.concurrency : undefined;
  const run = new LevelRun({ ...context, isScheduled: isRate, canLanesWait: isRate, roundSize }, 1);
  const measured = measureSteady({
    ...partsOf(level),
    run,
    ...{ count: 0, durationMs: warmUpMs, quota: Number.POSITIVE_INFINITY, firstMs },
    onStart: () => Promise.resolve(),
    onLead: () => {},
  });
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  measured.then(end, end);
  for (let ms = 0; !isOver; ms += 500) {
    assert.ok(ms < 4 * MINUTE_MS, "the level did not end");
    await clock.advanceMs(500);
  }
  driver.close();
  return ((await measured) as LevelResult).window;
}

const closed = (concurrency: number) => (): Drive => ({ kind: "closed", concurrency });
const rate = (perSec: number) => (): Drive => ({ kind: "scheduled", arrivals: constantArrivals(perSec) });

/** Loads, latencies and lengths of levels, with the true throughput. */
const LOADS: readonly (readonly [
  name: string,
  drive: () => Drive,
  latencyMs: number,
  levelMs: number,
  perSec: number,
])[] = [
  ["8 in flight, 30 ms, 1 s", closed(8), 30, 1000, 8 / 0.03],
  ["1 in flight, 5 ms, 1 s", closed(1), 5, 1000, 200],
  ["4 in flight, 400 ms, 3 s", closed(4), 400, 3000, 10],
  ["3 in flight, 2 s, 1 s", closed(3), 2000, 1000, 1.5],
  ["2 in flight, 700 ms, 60 s", closed(2), 700, 60_000, 2 / 0.7],
  ["100/s, 500 ms, 1 s", rate(100), 500, 1000, 100],
  ["40/s, 2 s, 4 s", rate(40), 2000, 4000, 40],
  ["20/s, 1 ms, 7.3 s", rate(20), 1, 7300, 20],
];

describe("a steady level", () => {
  for (const [name, drive, latencyMs, levelMs, perSec] of LOADS)
    test(`has the throughput and the rate of its load at any phase: ${name}`, async () => {
      const random = createRandom(1);
      const isRate = isScheduled(drive());
      let throughputSum = 0;
      let sentSum = 0;
      const runCount = levelMs > 10_000 ? 20 : 60;
      for (let run = 0; run < runCount; run++) {
        const warmUpMs = Math.floor(random() * latencyMs);
        const window = await measure({ drive, latencyMs: () => latencyMs, levelMs, warmUpMs });
        throughputSum += inferPerSec(window, 1) / perSec;
        sentSum += (sentPerSec(window) ?? 0) / perSec;
        const edge = isRate ? 1 / (perSec * (levelMs / 1000)) : 0;
        assert.ok(Math.abs(inferPerSec(window, 1) / perSec - 1) <= 0.01 + edge, `${inferPerSec(window, 1)}/s`);
        if (isRate) assert.equal(shortfall(window, perSec), undefined);
      }
      assert.ok(Math.abs(throughputSum / runCount - 1) <= 0.01, `throughput × ${throughputSum / runCount}`);
      if (isRate) assert.ok(Math.abs(sentSum / runCount - 1) <= 0.01, `rate × ${sentSum / runCount}`);
    });

  const random = createRandom(7);
  const MEAN_MS = 200;
  const RANDOM: readonly (readonly [name: string, drive: () => Drive, latencyMs: () => number, perSec: number])[] = [
    ["6 in flight, exponential latency", closed(6), () => drawExponential(random) * MEAN_MS, 6 / 0.2],
    ["6 in flight, 100 to 300 ms", closed(6), () => 100 + random() * 200, 6 / 0.2],
    ["30/s, 100 to 300 ms", rate(30), () => 100 + random() * 200, 30],
    [
      "Poisson 30/s, 100 to 300 ms",
      () => ({ kind: "scheduled", arrivals: poissonArrivals(30, Math.floor(random() * 2 ** 31)) }),
      () => 100 + random() * 200,
      30,
    ],
  ];
  for (const [name, drive, latencyMs, perSec] of RANDOM)
    test(`has no bias where latencies vary: ${name}`, async () => {
      let sum = 0;
      const runCount = 100;
      for (let run = 0; run < runCount; run++)
        sum += inferPerSec(await measure({ drive, latencyMs, levelMs: 3000, warmUpMs: 0 }), 1) / perSec;
      // The standard error of the mean is 1.1 % in the most variable case, and each run of the test draws the same numbers.
      assert.ok(Math.abs(sum / runCount - 1) <= 0.02, `throughput × ${sum / runCount}`);
    });

  const VARYING: readonly (readonly [name: string, drive: () => Drive, meanMs: number, latencyMs: () => number])[] = [
    ["6 in flight, exponential latency", closed(6), 200, () => drawExponential(random) * 200],
    ["1 in flight, every seventh slow", closed(1), 37, () => (random() < 1 / 7 ? 199 : 10)],
  ];
  for (const [name, drive, meanMs, latencyMs] of VARYING)
    test(`has the slow requests of its load, also when it is short: ${name}`, async () => {
      let [sumMs, count] = [0, 0];
      for (let run = 0; run < 200; run++) {
        const { latency } = await measure({ drive, latencyMs, levelMs: 1000, warmUpMs: 0 });
        sumMs += (latency.mean / 1e6) * latency.count;
        count += latency.count;
      }
      // A window that begins when the last of the first requests ends, or ends before its last one, lacks 5 %.
      assert.ok(Math.abs(sumMs / count / meanMs - 1) <= 0.03, `latency × ${sumMs / count / meanMs}`);
    });

  test("does not contain the client's work at its end", async () => {
    const window = await measure({
      ...{ drive: rate(200), latencyMs: () => 500, levelMs: 3000, warmUpMs: 0 },
      bookkeepingMs: 100,
    });
    assert.equal(window.durationNs, 3e9);
    assert.ok(Math.abs((sentPerSec(window) ?? 0) - 200) <= 0.4, `${sentPerSec(window)}`);
    assert.ok(Math.abs(inferPerSec(window, 1) - 200) <= 0.4, `${inferPerSec(window, 1)}`);
  });
});

test("a request without a response delays a level for its length and 10 s, and does not end its last round early", async () => {
  let sentCount = 0;
  const latencyMs = (): number => (sentCount++ === 0 ? Number.POSITIVE_INFINITY : 700);
  const { startNs, durationNs } = await measure({ drive: closed(2), latencyMs, levelMs: 1000, warmUpMs: 0 });
  // Responses come at 11.2 s, 11.9 s, 12.6 s and 13.3 s. The last two are the round in which the time is over.
  assert.deepEqual([startNs - 50e9, durationNs], [11e9, 2.3e9]);
});

test("a level in which nothing ends is over after its length and 10 s, and after a minute and its own time if it is long", async () => {
  const latencyMs = (): number => Number.POSITIVE_INFINITY;
  const never = (levelMs: number) => measure({ drive: closed(2), latencyMs, levelMs, warmUpMs: 0 });
  await assert.rejects(never(3000), /^LevelError: no request succeeded in the first 13 s$/);
  await assert.rejects(never(60_000), /^LevelError: no request succeeded while a level was measured$/);
});

test("a server that stops answering delays the end of a level for no longer than a drain", async () => {
  let sentCount = 0;
  const latencyMs = (): number => (sentCount++ < 4 ? 200 : Number.POSITIVE_INFINITY);
  const { durationNs } = await measure({ drive: closed(2), latencyMs, levelMs: 60_000, warmUpMs: 0 });
  assert.equal(durationNs, 70e9);
});

test("a run's first level begins after 1 s at full rate, or after its own length if that is less", async () => {
  const startMs = async (perSec: number, firstMs: number | undefined, warmUpMs = 0): Promise<number> => {
    const { startNs } = await measure({
      ...{ drive: rate(perSec), latencyMs: () => 1, levelMs: 200, warmUpMs, firstMs },
    });
    return Math.round((startNs - 50e9) / 1e6);
  };
  assert.deepEqual([await startMs(4000, 5000), await startMs(4000, 300)], [1000, 300]);
  assert.ok((await startMs(4000, undefined)) < 10, "another level");
  assert.ok((await startMs(1000, 5000)) < 50, "a rate at which the client's speed does not count");
  assert.ok((await startMs(4000, 5000, 1500)) < 1600, "its own warm-up is long enough");
});

test("requests that a level left in flight do not warm up the next one", async () => {
  const made = makeLevel({
    mode: { kind: "duration", durationMs: 1000 },
    lanes: { laneCount: 1, isSync: false },
  });
  const { clock, context, driver, server } = made;
  const leadCounts: number[] = [];
  const level = async (perSec: number): Promise<Measurement> => {
    made.load.drive = rate(perSec);
    const run = new LevelRun({ ...context, isScheduled: true, canLanesWait: true }, perSec);
    const measured = measureSteady({
      ...partsOf(made),
      run,
      ...{ count: 0, durationMs: 0, quota: Number.POSITIVE_INFINITY },
      onStart: () => Promise.resolve(),
      onLead: ({ sentCount }) => leadCounts.push(sentCount),
    });
    await clock.advanceMs(600);
    server.latencyMs = 500;
    await clock.advanceMs(perSec === 200 ? 450 : 3000);
    server.latencyMs = 10;
    return ((await measured) as LevelResult).window;
  };
  const windows = [await level(200), await level(50)];
  const sentCount = driver.sentCount;
  driver.close();
  assert.ok((windows[0]?.openAfterCount ?? 0) > 80);
  const measured = windows.reduce((sum, window) => sum + window.sentCount, 0);
  const leads = leadCounts.reduce((sum, count) => sum + count, 0);
  assert.ok(measured + leads <= sentCount, `${measured} and ${leads} of ${sentCount}`);
});

test("a run that ends before its load is steady has what ended until then, and no window", async () => {
  const healthStarts: number[] = [];
  const health = (clock: FakeClock): HealthMonitor =>
    new (class extends HealthMonitor {
      override start(): void {
        healthStarts.push(clock.nowMs);
        super.start();
      }
    })(clock);
  const made = makeLevel({ mode: { kind: "duration", durationMs: 5000 }, health });
  const { clock, context, driver, signal, server } = made;
  let sentCount = 0;
  Object.defineProperty(server, "latencyMs", { get: () => (sentCount++ === 0 ? 200 : 2000) });
  let resumedCount = 0;
  const abort = { resume: () => resumedCount++, pause() {}, add() {} } as unknown as EarlyAbort;
  made.load.drive = closed(2);
  const run = new LevelRun({ ...context, abort }, 2);
  const startMs = clock.nowMs;
  const measured = measureSteady({
    ...partsOf(made),
    run,
    ...{ count: 0, durationMs: 0, quota: Number.POSITIVE_INFINITY },
    onStart: () => Promise.resolve(),
    onLead: () => {},
  });
  await clock.advanceMs(500);
  signal.interrupt();
  await clock.advanceMs(10);
  const { outcome, window } = (await measured) as LevelResult;
  driver.close();
  assert.deepEqual([outcome, window.requestCount, window.durationNs], ["partial", 1, 0.5e9]);
  assert.equal(window.numbers, undefined, "windows are counted from 1");
  assert.equal(healthStarts[0], startMs, "the client's load before the level is not part of it");
  assert.equal(resumedCount, 0, "what is not measured ends no run early");
});

function shortfall(window: Measurement, perSec: number): unknown {
  return explainShortfall(window, {
    asked: { perSec, gapDeviationRatio: 0 },
    isSync: false,
    laneCount: 1,
    sequenceCount: undefined,
  });
}
