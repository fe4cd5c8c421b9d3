import assert from "node:assert/strict";
import { test } from "node:test";
import type { PhasePlan } from "../../../src/plan/load-options.ts";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import type { RunResult, SendingHost } from "../../../src/result/run-result.ts";
import { joinHosts } from "../../../src/run/fleet/join-parts.ts";
import { RemoteSender, type SentCounts } from "../../../src/run/fleet/remote-sender.ts";
import { makePlan, type PlanChange, rateLoad } from "../../plan/make-plan.ts";
import { runSenders } from "./run-senders.ts";

/** A conductor knows its senders only by messages, so one elsewhere, and several of them, give the run of its own. */

const hold = (...values: number[]): LoadPlan => ({
  ...{ kind: "concurrency", levels: { kind: "list", values }, search: "linear" },
});
const count = (load: LoadPlan, requests: number, rest: Partial<PhasePlan> = {}): PhasePlan => ({
  ...{ load, mode: { kind: "requests", count: requests }, ...rest },
});
const failures = { maxRatio: null };
const requests = (requestCount: number) => ({ mode: { kind: "requests", count: requestCount } }) as const;

const PLANS: Readonly<Record<string, PlanChange>> = {
  levels: { failures, load: hold(1, 3), measurement: requests(50) },
  "a warm-up": { failures, load: hold(4), measurement: { ...requests(40), warmupRequests: 20 } },
  "a rate": {
    failures,
    load: rateLoad([2000]),
    measurement: requests(60),
  },
  phases: {
    failures,
    load: { kind: "phases", phases: [count(hold(2), 20, { isWarmup: true }), count(hold(3), 40), count(hold(1), 30)] },
  },
  "a time": { failures, load: hold(2), measurement: { mode: { kind: "duration", durationMs: 60 } } },
  "a time with a grace period": {
    failures,
    load: hold(2),
    measurement: { mode: { kind: "duration", durationMs: 60, graceMs: 100 } },
  },
  "windows until three agree": {
    failures,
    load: hold(2),
    measurement: { mode: { kind: "time-windows", windowMs: 30, stabilityPct: 90, maxTrials: 10 } },
  },
  "an assertion that may end it": {
    failures,
    load: hold(2),
    measurement: { mode: { kind: "duration", durationMs: 60 } },
    assertions: [{ metric: { key: "latency", statistic: 99 }, comparison: "below", limit: 60e9, abortAfterMs: 20 }],
  },
};

/** The counts that do not depend on time, without failures: with several senders, other requests fail. */
function countsOf({ sentCount, levels, phased, warmup, error }: RunResult): unknown {
  const windows = levels.map(({ level, outcome, window, phase }) => {
    const { requestCount, failedCount, sentCount: sent, isScheduled } = window;
    // What is in flight when a phase ends, ends in the next one.
    const ended = phase === undefined ? requestCount + failedCount : undefined;
    return { level, outcome, phase, ended, sent, isScheduled };
  });
  const phases = phased?.phases.map(({ label, tally }) => ({ label, sentCount: tally.sentCount }));
  // A load that continues from its warm-up sends on until the last of several senders has warmed up.
  const total = warmup === undefined ? sentCount : undefined;
  return { total, windows, phases, error };
}

const seen = new Set<string>();

for (const [name, change] of Object.entries(PLANS))
  for (const remoteCount of [1, 3])
    test(`${name}: the run is the same with ${remoteCount} senders elsewhere`, async () => {
      const plan = makePlan(change);
      const { result: far, messages } = await runSenders(plan, { remoteCount });
      for (const message of messages) seen.add(message);
      const { result: near } = await runSenders(plan, { remoteCount: 0 });
      assert.equal(far.error, undefined);
      assert.equal(far.sentCount, far.completedCount + far.failedCount);
      if (far.warmup !== undefined) assert.ok(far.warmup.sentCount >= plan.measurement.warmupRequests);
      const isCounted = plan.load.kind === "phases" || plan.measurement.mode.kind === "requests";
      if (isCounted) {
        assert.deepEqual(countsOf(far), countsOf(near));
        assert.ok(far.completedCount > 10 && far.failedCount > 0, `${far.completedCount} and ${far.failedCount}`);
        assert.equal(far.failures[0]?.kind, "http");
        // On a busy machine few requests fit into a time.
      } else assert.ok(far.levels[0] !== undefined && far.levels[0].window.requestCount > 0);
    });

test("these runs used most of the twelve messages", () => {
  const names = ["prepare", "start", "change", "stop", "close"];
  const replies = ["until", "drain", "beginWindow", "cut"];
  // These runs measure no tokens, and none is cancelled.
  const others = ["cancel", "takeTokens"];
  for (const name of [...names, ...replies]) assert.ok(seen.has(name), name);
  assert.deepEqual(
    [...seen].filter((name) => ![...names, ...replies, ...others].includes(name)),
    [],
  );
});

const ended = (completedCount: number): SentCounts => ({
  progress: {
    ...{ sentCount: completedCount, endedCount: completedCount, outstanding: 0, completedCount, failedCount: 0 },
    ...{ cancelledCount: 0, activeLanes: 1 },
    ...{ quota: Number.POSITIVE_INFINITY, isSending: true, lastSuccessNs: 0, longestNs: 0 },
    unsent: { count: 0, delayed: undefined },
  },
  counts: {
    ...{ sentCount: completedCount, completedCount, failedCount: 0, cancelledCount: 0 },
    ...{ outstanding: 0, openResponses: 0 },
  },
});

test("of a sender that is gone, what it had reported until then counts, whatever still comes", async () => {
  const listener = { records: () => {}, extracted: () => {}, failed: () => {}, limited: () => {}, broken: () => {} };
  const remote = new RemoteSender({ send: () => {} }, listener, ended(0));
  remote.receive({ kind: "counts", ...ended(7) });
  remote.fail(new Error("gone"));
  remote.receive({ kind: "counts", ...ended(9) });
  assert.deepEqual([remote.sender.progress(), remote.sender.counts()], [ended(7).progress, ended(7).counts]);
  await assert.rejects(remote.sender.until({ kind: "now" }), /gone/);
});

test("threads of a host that stood still at the same time are one standstill of the host", () => {
  const partOf = (...spansSec: readonly (readonly [number, number])[]): SendingHost => ({
    ...{ name: "a/1", workerCount: 1, sentCount: 5, completedCount: 5, failedCount: 0 },
    ...{ clockOffsetNs: 0, clockErrorNs: 0, clockDriftNs: 0, lateNs: 0 },
    ...(spansSec.length === 0
      ? {}
      : { standstills: spansSec.map(([from, to]) => ({ startNs: from, endNs: to, fromNs: from + 100 })) }),
  });
  const standstillsOf = (...parts: readonly SendingHost[]): SendingHost["standstills"] =>
    joinHosts(parts.map((part) => ({ id: "one", part })))[0]?.standstills;
  assert.equal(standstillsOf(partOf(), partOf()), undefined);
  assert.deepEqual(standstillsOf(partOf([7, 9], [2, 5]), partOf(), partOf([3, 6])), [
    { startNs: 2, endNs: 6, fromNs: 102 },
    { startNs: 7, endNs: 9, fromNs: 107 },
  ]);
});
