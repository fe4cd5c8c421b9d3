import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordColumns } from "../../../src/measure/records.ts";
import type { PhasePlan } from "../../../src/plan/load-options.ts";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { Conductor } from "../../../src/run/conduct/conductor.ts";
import { hostLimitsOf } from "../../../src/run/host-limits.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { openSender, timestampsOf } from "../../../src/run/open-sender.ts";
import { ALONE } from "../../../src/run/peers/peers.ts";
import type { LoadSender, SenderListener } from "../../../src/run/send/messages.ts";
import { nowNs, systemClock } from "../../../src/runtime/clock.ts";
import type { Failure } from "../../../src/transport/failure.ts";
import type { WireRequest } from "../../../src/transport/request.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { FakeClient, makeDataset, makeDriver, makeService } from "./fake-client.ts";

/** A conductor knows its sender only by messages that could go to another thread or host: each of them is cloned on its way here. */

const EVERY = 7;
const REFUSED: Failure = { kind: "http", status: 503, message: "busy" };

/** Answers each request one turn of the event loop after it was sent; each seventh fails. */
class EagerClient extends FakeClient {
  private count = 0;

  override send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    super.send(slot, request, stamp);
    const count = ++this.count;
    setImmediate(() => {
      if (this.calls[slot]?.isActive === true) this.answer(slot, count % EVERY === 0 ? REFUSED : undefined);
    });
  }
}

/** The messages that passed. */
const seen = new Set<string>();

/** Clones what goes to a sender and what it returns. It has no properties but its messages. */
function cloned(sender: LoadSender): LoadSender {
  const call = (name: string, args: readonly unknown[]): unknown => {
    seen.add(name);
    const message = sender[name as keyof LoadSender] as unknown;
    assert.equal(typeof message, "function", `${name} is no message`);
    const result: unknown = (message as (...args: unknown[]) => unknown).apply(sender, structuredClone([...args]));
    return result instanceof Promise
      ? result.then((value: unknown) => structuredClone(value))
      : structuredClone(result);
  };
  return new Proxy({} as LoadSender, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        call(String(name), args),
  });
}

/** Clones what a sender reports. */
function clonedListener(listener: SenderListener): SenderListener {
  return {
    records: (records, count) => {
      const columns = Object.entries(records).filter(([, column]) => ArrayBuffer.isView(column));
      listener.records(structuredClone(Object.fromEntries(columns)) as RecordColumns, count);
    },
    extracted: (...args) => listener.extracted(...structuredClone(args)),
    failed: (...args) => listener.failed(...structuredClone(args)),
    limited: (...args) => listener.limited(...structuredClone(args)),
    broken: (error) => listener.broken(structuredClone(error)),
  };
}

function run(plan: Plan, isCloned: boolean): Promise<RunResult> {
  const { driver, feed } = makeDriver({ createClient: ({ onDone }) => new EagerClient(onDone), laneCount: 64 });
  const load = prepareLoad(plan.load);
  const session = {
    ...{ service: makeService(), dataset: makeDataset(3), warnings: [], shared: undefined },
    counters: async () => undefined,
  };
  const parts = { plan, observer: {}, load, session };
  const sending = { feed, driver, canceller: undefined, tokens: undefined };
  return new Conductor({
    ...parts,
    signal: new RunSignal(),
    createSender: (listener) =>
      isCloned
        ? cloned(openSender({ ...parts, ...sending }, clonedListener(listener)))
        : openSender({ ...parts, ...sending }, listener),
    ...{ clock: systemClock, laneCount: driver.laneCount, timestampsMs: timestampsOf(parts), hasTokens: false },
    ...{ hostLimits: hostLimitsOf(plan, load.search), poller: undefined, peers: ALONE },
    ...{ startNs: nowNs(), check: () => Promise.resolve() },
  }).execute();
}

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
    load: {
      kind: "request-rate",
      levels: { kind: "list", values: [2000] },
      search: "linear",
      distribution: "constant",
      seed: 1,
    },
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

/** What a number of requests decides, and time does not. */
function countsOf({ sentCount, completedCount, failedCount, levels, phased, warmup, error }: RunResult): unknown {
  const windows = levels.map(({ level, outcome, window, phase }) => {
    const { requestCount, failedCount: failed, sentCount: sent, isScheduled } = window;
    return { level, outcome, phase, requestCount, failed, sent, isScheduled };
  });
  const phases = phased?.phases.map(({ label, tally }) => ({ label, sentCount: tally.sentCount }));
  return { sentCount, completedCount, failedCount, windows, phases, warmup, error };
}

for (const [name, change] of Object.entries(PLANS))
  test(`${name}: the run is the same when every message is cloned`, async () => {
    const plan = makePlan(change);
    const [far, near] = [await run(plan, true), await run(plan, false)];
    assert.equal(far.error, undefined);
    assert.ok(far.completedCount > 10 && far.failedCount > 0, `${far.completedCount} and ${far.failedCount}`);
    assert.equal(far.sentCount, far.completedCount + far.failedCount);
    assert.equal(far.failures[0]?.kind, "http");
    const isCounted = plan.load.kind === "phases" || plan.measurement.mode.kind === "requests";
    if (isCounted) assert.deepEqual(countsOf(far), countsOf(near));
    else assert.ok(far.levels[0] !== undefined && far.levels[0].window.requestCount > 0);
  });

test("these runs used most messages", () => {
  for (const name of [
    "prepare",
    "start",
    "prepareChange",
    "change",
    "setQuota",
    "cut",
    "stop",
    "close",
    "state",
    "totals",
  ])
    assert.ok(seen.has(name), name);
});
