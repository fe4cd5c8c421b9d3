import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { PhasePlan } from "../../src/plan/load-options.ts";
import type { LoadPlan } from "../../src/plan/load-plan.ts";
import type { RunObserver } from "../../src/result/observer.ts";
import type { PhasesResult, PhaseTally, RunResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { makePlan, type PlanChange } from "../plan/make-plan.ts";
import { KserveServer } from "./kserve-server.ts";

/** Loads with phases in whole runs: no pause between two phases, and every request counted once. */

const LIMIT = { timeout: 30_000 };
const list = (...values: number[]) => ({ kind: "list", values }) as const;
const rateAt = (perSec: number, change: object = {}): LoadPlan => ({
  ...{ kind: "request-rate", levels: list(perSec), search: "linear", distribution: "poisson", seed: 1 },
  ...change,
});
const hold = (...concurrency: number[]): LoadPlan => ({
  ...{ kind: "concurrency", levels: list(...concurrency), search: "linear" },
});

let folder: string;
let server: KserveServer;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "rampart-phases-"));
  writeFileSync(join(folder, "gaps.txt"), "1000\n3000\n");
  // Every seventh request fails, and each takes so long that some are always in flight.
  server = await new KserveServer({
    onInfer: async ({ index }) => {
      await new Promise((resolve) => setTimeout(resolve, 25));
      return index % 7 === 3 ? "no" : undefined;
    },
  }).start();
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

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
    measurement: { mode: { kind: "time-windows", windowMs: 20, stabilityPct: 1000, maxTrials: 10 } },
    client: { callMode: "async" },
  });
  const result = await startPlan(
    plan,
    () => Promise.resolve(observer),
    () => Promise.resolve(),
  ).result;
  assert.equal(result.error, undefined);
  return result as Run;
}

const NAMES = ["sentCount", "completedCount", "failedCount", "cancelledCount"] as const;
const endedOf = (tally: PhaseTally): number => tally.completedCount + tally.failedCount + tally.cancelledCount;

/** Whatever the phases: each request is counted once, in the phase in which it ended. */
function checkSums({ phased, levels, ...totals }: Run): void {
  const { phases, after: rest, timeline } = phased;
  for (const name of NAMES) {
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
    assert.equal(
      timeline.reduce((sum, bucket) => sum + bucket[name], 0),
      total[name],
      `the time line's ${name}`,
    );
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

describe("from one load to another there is no pause, and every request is counted once", () => {
  for (const [from, first] of Object.entries(LOADS)) {
    for (const [to, second] of Object.entries(LOADS)) {
      test(`${from} → ${to}`, LIMIT, async () => {
        const cancellation = { sharePct: 20, delayMs: 5, seed: 3 };
        const result = await run([time(first()), time(second()), time(first(), 30)], { cancellation });
        checkSums(result);
        const { phases } = result.phased;
        assert.equal(phases.length, 3);
        assert.ok(result.failedCount > 0 && result.cancelledCount > 0);
        // 25 ms for each answer: requests are in flight when the load changes.
        for (const { openAfterCount, label } of phases) assert.ok(openAfterCount > 0, label);
      });
    }
  }
});
