import type { Plan } from "../../src/plan/plan.ts";
import type { Report } from "../../src/report/report.ts";
import type { LevelResult, PreparedRun, RunResult } from "../../src/result/run-result.ts";
import { makeDelta, makeWindow } from "../measure/make-window.ts";
import { makeDataset, makeService } from "../run/send/fake-client.ts";

/** Finished runs for tests of reports. */

/** A measured level of concurrency: 30 requests of 1 ms in a second, with server times. */
export function makeLevel(change: Partial<LevelResult> = {}): LevelResult {
  return {
    unit: "concurrency",
    level: 1,
    outcome: "measured",
    window: makeWindow({
      latenciesNs: new Array(30).fill(1_000_000),
      sendMeanNs: 20_000,
      receiveMeanNs: 30_000,
      server: makeDelta(30),
    }),
    trials: 3,
    instability: undefined,
    isLatencyUnstable: false,
    hasServerCounters: true,
    timeline: [],
    ...change,
  };
}

/** What is known before a run. */
export function makePrepared(plan: Plan, change: Partial<PreparedRun> = {}): PreparedRun {
  return {
    plan,
    service: makeService(),
    dataset: makeDataset(1, false),
    levelUnit: "concurrency",
    callMode: plan.client.callMode === "async" ? "async" : "sync",
    laneCount: 4,
    requestCount: plan.measurement.mode.kind === "requests" ? (plan.measurement.mode.count ?? undefined) : undefined,
    warnings: [],
    ...change,
  };
}

/** 12 requests: 2 in the warm-up, of which 1 failed, and 10 after it, of which 3 failed and 1 was cancelled. */
export const WARMED_COUNTS: Partial<RunResult> = {
  sentCount: 12,
  completedCount: 7,
  failedCount: 4,
  cancelledCount: 1,
  warmup: { sentCount: 2, failedCount: 1 },
  failures: [
    { kind: "http", count: 1, example: "warming", status: 503, isWarmup: true },
    { kind: "http", count: 3, example: "boom", status: 500 },
    { kind: "cancelled", count: 1, example: "given up", status: undefined },
  ],
};

/** A run of the levels given. */
export function makeResult(plan: Plan, levels: readonly LevelResult[], change: Partial<RunResult> = {}): RunResult {
  const completed = levels.reduce((sum, { window }) => sum + window.requestCount, 0);
  const failed = levels.reduce((sum, { window }) => sum + window.failedCount, 0);
  return {
    prepared: makePrepared(plan, { levelUnit: levels[0]?.unit ?? "concurrency" }),
    levels,
    sentCount: completed + failed,
    completedCount: completed,
    failedCount: failed,
    cancelledCount: 0,
    failures: [],
    connectionCount: 1,
    slotCount: 1,
    resendCount: 0,
    server: undefined,
    isInterrupted: false,
    error: undefined,
    laneErrors: [],
    startEpochNs: 1_700_000_000_000_000_000n,
    durationNs: 3.5e9,
    ...change,
  };
}

/** A sink that keeps what it is given. */
export function makeSink(): {
  out(text: string): void;
  err(text: string): void;
  printed: { out: string; err: string };
} {
  const printed = { out: "", err: "" };
  return {
    printed,
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
  };
}

/** Tells a report of a whole run. */
export async function tell(report: Report, result: RunResult): Promise<void> {
  report.onPrepared?.(result.prepared);
  for (const level of result.levels) {
    report.onLevelStart?.(level.unit, level.level, false);
    report.onLevelEnd?.(level);
  }
  await report.finish(result);
}
