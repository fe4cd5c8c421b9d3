import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { PhasePlan } from "../../../src/plan/load-options.ts";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import { nsToSec, sum } from "../../../src/plan/units.ts";
import type { RunObserver } from "../../../src/result/observer.ts";
import {
  type LevelResult,
  type PhasesResult,
  REQUEST_COUNTS,
  type RequestCounts,
  type RunResult,
} from "../../../src/result/run-result.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { makeFolder } from "../../make-folder.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { KserveServer } from "../kserve-server.ts";

/** Loads with phases in whole runs: no pause between two phases, and every request counted once. */

const list = (...values: number[]) => ({ kind: "list", values }) as const;
const rateAt = (perSec: number, change: object = {}): LoadPlan => ({
  ...{ kind: "request-rate", levels: list(perSec), search: "linear", distribution: "poisson", seed: 1 },
  ...change,
});
const hold = (...concurrency: number[]): LoadPlan => ({
  ...{ kind: "concurrency", levels: list(...concurrency), search: "linear" },
});

const folder = makeFolder();
let server: KserveServer;
before(async () => {
  writeFileSync(join(folder, "gaps.txt"), "1000\n3000\n");
  // Every seventh request fails, and each takes so long that some are always in flight.
  server = await new KserveServer({
    onInfer: async ({ index }) => {
      await new Promise((resolve) => setTimeout(resolve, 25));
      return index % 7 === 3 ? "no" : undefined;
    },
  }).start();
});
after(() => server.stop());

const LOADS: Readonly<Record<string, () => LoadPlan>> = {
  hold: () => hold(3),
  "hold of more": () => hold(12),
  ramp: () => ({ kind: "concurrency-ramp", start: 2, end: 6, overMs: 60 }),
  rate: () => rateAt(400),
  "rate with a limit": () => rateAt(600, { maxOutstanding: 5 }),
  intervals: () => ({ kind: "intervals", file: join(folder, "gaps.txt") }),
};

const time = (load: LoadPlan, durationMs = 60, rest: Partial<PhasePlan> = {}): PhasePlan => ({
  load,
  mode: { kind: "duration", durationMs },
  ...rest,
});
const count = (load: LoadPlan, requests: number, rest: Partial<PhasePlan> = {}): PhasePlan => ({
  load,
  mode: { kind: "requests", count: requests },
  ...rest,
});

interface Run extends RunResult {
  readonly phased: PhasesResult;
}

async function run(phases: readonly PhasePlan[], change: PlanChange = {}, observer: RunObserver = {}): Promise<Run> {
  const plan = makePlan({
    ...change,
    target: { url: server.url, ...change.target },
    load: { kind: "phases", phases },
    measurement: { mode: { kind: "time-windows", windowMs: 100, stabilityPct: 1e6, maxTrials: 100 } },
    client: { callMode: "async" },
  });
  const result = await startPlan(plan, {
    openObserver: () => Promise.resolve(observer),
    check: () => Promise.resolve(),
  }).result;
  assert.equal(result.error, undefined);
  return result as Run;
}

const endedOf = (tally: RequestCounts): number => tally.completedCount + tally.failedCount + tally.cancelledCount;

/** Whatever the phases: each request is counted once, in the phase in which it ended. */
function checkSums({ phased, levels, ...totals }: Run): void {
  const { phases, after: rest, timeline } = phased;
  for (const name of REQUEST_COUNTS) {
    const sum = phases.reduce((total, { tally }) => total + tally[name], rest[name]);
    assert.equal(sum, totals[name], name);
    assert.ok(rest[name] >= 0);
  }
  assert.equal(rest.sentCount, 0);
  for (const [index, phase] of phases.entries()) {
    assert.equal(
      phase.openBeforeCount + phase.tally.sentCount,
      endedOf(phase.tally) + phase.openAfterCount,
      phase.label,
    );
    const follower = phases[index + 1];
    if (follower === undefined) assert.equal(phase.openAfterCount, endedOf(rest));
    else assert.deepEqual([follower.openBeforeCount, follower.startNs], [phase.openAfterCount, phase.endNs]);
  }
  for (const name of ["requestCount", "failedCount", "cancelledCount"] as const) {
    const total = {
      requestCount: totals.completedCount,
      failedCount: totals.failedCount,
      cancelledCount: totals.cancelledCount,
    };
    assert.equal(sum(timeline.map((bucket) => bucket[name])), total[name], `the time line's ${name}`);
  }
  // Phases of a time or of a number of requests have one window per level, and nothing between them.
  for (const phase of phases) {
    const windows = levels.flatMap((level) => (level.phase?.index === phase.index ? [level.window] : []));
    if (windows.length === 0) continue;
    const sumOf = (pick: (window: (typeof windows)[number]) => number) =>
      windows.reduce((sum, one) => sum + pick(one), 0);
    assert.deepEqual(
      {
        sentCount: sumOf(({ sentCount }) => sentCount),
        completedCount: sumOf(({ requestCount }) => requestCount),
        failedCount: sumOf(({ failedCount }) => failedCount),
        cancelledCount: sumOf(({ cancelledCount }) => cancelledCount),
      },
      phase.tally,
    );
    assert.equal(windows[0]?.openBeforeCount, phase.openBeforeCount);
  }
}

describe("phases of a number of requests", () => {
  test("send exactly that many, and the last one waits for its responses", LIMIT, async () => {
    const result = await run([count(hold(1), 7), count(rateAt(900), 40), count(hold(8), 30), count(hold(2), 20)]);
    checkSums(result);
    const { phases, after: rest } = result.phased;
    assert.deepEqual(
      phases.map(({ tally }) => tally.sentCount),
      [7, 40, 30, 20],
    );
    // The last request of a phase is in flight when the next one begins, also where there is only one at a time.
    for (const { openAfterCount, label } of phases.slice(0, -1)) assert.ok(openAfterCount > 0, label);
    assert.deepEqual([phases.at(-1)?.openAfterCount, endedOf(rest)], [0, 0]);
  });

  test("count at each level of a phase, and levels follow each other without a pause too", LIMIT, async () => {
    const result = await run([count(hold(2, 5), 25), time(rateAt(300, { levels: list(300, 600) }), 50)]);
    checkSums(result);
    assert.deepEqual(
      result.levels.map(({ level, unit, phase }) => [phase?.index, unit, level]),
      [
        [0, "concurrency", 2],
        [0, "concurrency", 5],
        [1, "request-rate", 300],
        [1, "request-rate", 600],
      ],
    );
    // 25 ms for each response: requests are in flight when the load changes, but where the machine stops for longer just then.
    assert.ok(result.levels.some(({ window }) => window.openAfterCount > 0));
  });
});

test("a rate has all its requests after a phase whose end takes the client 80 ms", LIMIT, async () => {
  const observer: RunObserver = {
    onBatch: () => {
      const endMs = performance.now() + 80;
      while (performance.now() < endMs);
    },
  };
  const even = rateAt(10, { distribution: "constant" });
  const { levels, phased } = await run([time(hold(4), 200), time(even, 1000), time(even, 1000)], {}, observer);
  for (const { phase, window, unsentCount = 0 } of levels.slice(1)) {
    const { startNs = 0, endNs = 0 } = phased.phases.find(({ index }) => index === phase?.index) ?? {};
    // A machine that is busy at the end makes the phase longer.
    const dueCount = Math.floor((endNs - startNs) / 100e6 + 0.5);
    assert.equal(window.sentCount + unsentCount, dueCount, `${phase?.label}, ${endNs - startNs} ns`);
    assert.ok(dueCount >= 10);
  }
});

describe("a warm-up phase", () => {
  test("is counted and not measured, wherever it is", LIMIT, async () => {
    const started: (readonly [number | undefined, boolean])[] = [];
    const observer: RunObserver = {
      onLevelStart: (_unit, _level, isWarmup, phase) => started.push([phase?.index, isWarmup]),
    };
    const phases = [
      count(hold(3), 20, { isWarmup: true }),
      time(hold(3)),
      time(rateAt(300), 60, { isWarmup: true, name: "pause" }),
      time(hold(2)),
    ];
    const result = await run(phases, {}, observer);
    checkSums(result);
    assert.deepEqual(started, [
      [0, true],
      [1, false],
      [2, true],
      [3, false],
    ]);
    assert.deepEqual(
      result.levels.map(({ phase }) => phase),
      [
        { index: 1, label: "concurrency 3" },
        { index: 3, label: "concurrency 2" },
      ],
    );
    const warmups = result.phased.phases.filter(({ isWarmup }) => isWarmup);
    assert.deepEqual(
      warmups.map(({ label }) => label),
      ["warm-up", "pause"],
    );
    const sumOf = (name: keyof RequestCounts): number => warmups.reduce((sum, { tally }) => sum + tally[name], 0);
    assert.deepEqual(result.warmup, { sentCount: sumOf("sentCount"), failedCount: sumOf("failedCount") });
    assert.equal(warmups[0]?.tally.sentCount, 20);
    const failed = result.failures.filter(({ isWarmup }) => isWarmup === true);
    assert.equal(sum(failed.map((one) => one.count)), result.warmup?.failedCount);
  });
});

test("phases until stable measure windows, and the phases around them lose no request", LIMIT, async () => {
  const result = await run([time(hold(4)), { load: hold(2, 3) }, time(rateAt(300))]);
  const stable = result.levels.filter(({ phase }) => phase?.index === 1);
  assert.deepEqual(
    stable.map(({ level, outcome }) => [level, outcome]),
    [
      [2, "measured"],
      [3, "measured"],
    ],
  );
  // Their windows are the last three, so they may have fewer requests than the phase.
  checkSums({ ...result, levels: result.levels.filter(({ phase }) => phase?.index !== 1) });
});

test("an interrupted run has the phases that began, and counts every request", LIMIT, async () => {
  const plan = makePlan({
    target: { url: server.url },
    load: { kind: "phases", phases: [time(hold(2)), time(hold(4), 60_000), time(hold(1))] },
    client: { callMode: "async" },
  });
  const running = startPlan(plan, {
    openObserver: () =>
      Promise.resolve({
        onLevelStart: (_unit, level) => {
          if (level === 4) setTimeout(() => running.interrupt(), 50);
        },
      }),
    check: () => Promise.resolve(),
  });
  const result = (await running.result) as Run;
  checkSums(result);
  assert.deepEqual([result.isInterrupted, result.phased.phases.length], [true, 2]);
  assert.deepEqual(
    result.levels.map(({ outcome }) => outcome),
    ["measured", "partial"],
  );
});

describe("from one load to another there is no pause, and every request is counted once", () => {
  for (const [from, first] of Object.entries(LOADS)) {
    for (const [to, second] of Object.entries(LOADS)) {
      test(`${from} → ${to}`, LIMIT, async () => {
        const cancellation = { sharePct: 20, delayMs: 5, seed: 3 };
        // The first phase has enough requests that some fail and some are cancelled, even when the other phases have time for few.
        const loads = [count(hold(12), 36), time(first()), time(second()), time(first(), 30)];
        const result = await run(loads, { cancellation });
        checkSums(result);
        const [counted, ...phases] = result.phased.phases;
        assert.deepEqual([counted?.tally.sentCount, phases.length], [36, 3]);
        assert.ok(result.failedCount > 0 && result.cancelledCount > 0);
        // 25 ms for each response: requests are in flight when the load changes, but where the machine stops for longer just then.
        assert.ok(
          phases.some(({ openAfterCount }) => openAfterCount > 0),
          JSON.stringify(phases),
        );
      });
    }
  }
});

test("a rate that follows another load is due from the start of its phase", LIMIT, async () => {
  const perSec = 2000;
  const { levels } = await run([time(hold(4)), time(rateAt(perSec, { distribution: "constant" }), 300)]);
  const { window, unsentCount = 0 } = levels.at(-1) as LevelResult;
  // However late the client was: what was due and not sent is counted.
  const dueCount = nsToSec(window.durationNs) * perSec;
  const counted = window.sentCount + unsentCount;
  assert.ok(Math.abs(counted - dueCount) <= 2, `${counted} of ${dueCount}`);
});
