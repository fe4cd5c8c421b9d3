// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan } from "../../../src/plan/plan.ts";
import { RunError, UserError } from "../../../src/plan/problem.ts";
import { sum } from "../../../src/plan/units.ts";
import type { RunObserver } from "../../../src/result/observer.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { openFleet } from "../../../src/run/fleet/open-fleet.ts";
import type { SeatsElsewhere } from "../../../src/run/fleet/seat-sender.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { nowNs, sleepMs } from "../../../src/runtime/clock.ts";
import { makePlan, type PlanChange, rateLoad } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { KserveServer, withServer } from "../kserve-server.ts";

/** Whole runs whose load is sent by several threads, against a server that counts. */

const planFor = (url: string, workers: number, change: PlanChange = {}): Plan =>
  makePlan({ ...change, client: { workers, ...change.client }, target: { url, ...change.target } });

const run = (plan: Plan, observer: RunObserver = {}): Promise<RunResult> =>
  startPlan(plan, { openObserver: () => Promise.resolve(observer), check: () => Promise.resolve() }).result;

const holdAt = (...values: number[]): Plan["load"] => ({
  ...{ kind: "concurrency", levels: { kind: "list", values }, search: "linear" },
});
/** How long a response takes. */
const after = async (ms: number): Promise<undefined> => {
  await sleepMs(ms);
  return undefined;
};
const count = (requests: number) => ({ mode: { kind: "requests", count: requests } }) as const;

test("the server gets each request once, at each level, whatever the number of threads", LIMIT, async () => {
  for (const workers of [2, 3])
    await withServer({}, async (server) => {
      const plan = planFor(server.url, workers, { load: holdAt(1, 2, 7), measurement: count(60) });
      const { completedCount, failedCount, levels, error, connectionCount } = await run(plan);
      assert.deepEqual([error, completedCount, failedCount, server.successCount], [undefined, 180, 0, 180]);
      assert.deepEqual(
        levels.map(({ level, window }) => [level, window.requestCount]),
        [1, 2, 7].map((level) => [level, 60]),
      );
      assert.ok(connectionCount >= 7, `${connectionCount}`);
    });
});

test("a rate is that of one sender, and its arrivals are on one clock", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const load: Plan["load"] = rateLoad([200]);
  const times: number[] = [];
  const observer: RunObserver = {
    onBatch: ({ intendedSendNs }, rows) => times.push(...intendedSendNs.subarray(0, rows)),
  };
  // A synchronous lane that waits for its response leaves its turn to another one.
  const change: PlanChange = { load, measurement: count(100), client: { callMode: "async" } };
  const { error, levels } = await run(planFor(server.url, 3, change), observer);
  assert.deepEqual([error, server.successCount, levels[0]?.window.requestCount], [undefined, 100, 100]);
  const due = times.sort((a, b) => a - b);
  assert.equal(due.length, 100);
  const gapsMs = due.slice(1).map((ns, at) => (ns - (due[at] as number)) / 1e6);
  // The clocks of threads agree within some microseconds.
  for (const gapMs of gapsMs) assert.ok(Math.abs(gapMs - 5) < 0.1, `${gapMs} ms between two that are due 5 ms apart`);
});

test("threads keep the clock of the conductor when the system's time was set since it began", LIMIT, async (t) => {
  await using server = await new KserveServer({}).start();
  const { timeOrigin } = performance;
  // As if it had been set forward by a minute.
  Object.defineProperty(performance, "timeOrigin", { value: timeOrigin - 60_000, configurable: true });
  t.after(() => Reflect.deleteProperty(performance, "timeOrigin"));
  const sent: number[] = [];
  const observer: RunObserver = { onBatch: ({ sendStartNs }, rows) => sent.push(...sendStartNs.subarray(0, rows)) };
  const beganNs = nowNs();
  const { error } = await run(planFor(server.url, 2, { load: rateLoad([200]), measurement: count(40) }), observer);
  assert.deepEqual([error, server.successCount, sent.length], [undefined, 40, 40]);
  for (const ns of sent) assert.ok(ns > beganNs && ns < nowNs(), `${ns} is not from ${beganNs} to ${nowNs()}`);
});

test("at a low rate the measurement begins when it does with one thread, not when each has sent", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const load: Plan["load"] = rateLoad([0.4]);
  const change: PlanChange = {
    ...{ load, measurement: { mode: { kind: "duration", durationMs: 2600 } } },
  };
  const { error } = await run(planFor(server.url, 7, change));
  assert.equal(error, undefined);
  // One before the measurement and two in it at most. With one of each thread before it, they would be eight or more. They come so
  // slowly that a busy machine has 7 s to begin.
  assert.ok(server.successCount <= 6, `${server.successCount}`);
});

test("a time in which the server answers none of the threads is a gap", LIMIT, async () => {
  /** When the measurement began, which on a busy machine may be seconds after the first request. */
  let beganMs: number | undefined;
  const onInfer = (): Promise<undefined> => {
    const atMs = performance.now() - (beganMs ?? Number.POSITIVE_INFINITY);
    return after(atMs > 700 && atMs < 1900 ? 1900 - atMs : 5);
  };
  await using server = await new KserveServer({ onInfer }).start();
  const mode = { kind: "duration", durationMs: 3200 } as const;
  const onWindowStart = (): void => {
    beganMs ??= performance.now();
  };
  const plan = planFor(server.url, 2, { load: holdAt(4), measurement: { mode } });
  const { levels, error } = await run(plan, { onWindowStart });
  assert.equal(error, undefined);
  const lengthsNs = (levels[0]?.window.gaps ?? []).map(({ startNs, endNs }) => endNs - startNs);
  assert.ok(Math.max(...lengthsNs) > 1e9, `${lengthsNs}`);
});

test("latency is that of the server, and so is what is in flight", LIMIT, async () => {
  /** From arrival to response, on this thread's clock. */
  const served: { readonly fromNs: number; toNs: number }[] = [];
  const onInfer = async (): Promise<undefined> => {
    const one = { fromNs: nowNs(), toNs: Number.POSITIVE_INFINITY };
    served.push(one);
    await sleepMs(20);
    one.toNs = nowNs();
  };
  await using server = await new KserveServer({ onInfer }).start();
  const mode = { kind: "duration", durationMs: 600 } as const;
  const { levels, error } = await run(planFor(server.url, 2, { load: holdAt(4), measurement: { mode } }));
  assert.equal(error, undefined);
  const [level] = levels;
  assert.ok(level !== undefined);
  const { latency, requestCount, startNs, endNs, durationNs, inFlightSumNs } = level.window;
  // Timers fire up to a millisecond early.
  assert.ok(latency.min >= 18.9e6, `${latency.min}`);
  const inFlight = inFlightSumNs / durationNs;
  // In flight for the client is what is sent, and thus at least what the server has.
  const inServer = sum(
    served.map(({ fromNs, toNs }) => Math.max(0, Math.min(toNs, endNs) - Math.max(fromNs, startNs))),
  );
  assert.ok(
    inServer > 0 && inFlight > 0.99 * (inServer / durationNs),
    `${inFlight} in flight, ${inServer / durationNs}`,
  );
  assert.ok(inFlight < 4.01, `${inFlight} in flight`);
  assert.ok(server.maxOutstanding <= 4, `the server saw ${server.maxOutstanding} at once`);
  assert.ok(requestCount <= (4 * durationNs) / 18.9e6 + 4, `${requestCount}`);
});

test("failed requests are counted once and explained", LIMIT, async () => {
  await using server = await new KserveServer({
    onInfer: ({ index }) => (index % 5 === 4 ? "busy" : undefined),
  }).start();
  const change: PlanChange = { load: holdAt(4), measurement: count(50), failures: { maxRatio: null } };
  const { completedCount, failedCount, failures, error } = await run(planFor(server.url, 3, change));
  assert.deepEqual([error, completedCount + failedCount], [undefined, 50]);
  assert.equal(server.successCount, completedCount);
  assert.ok(failedCount > 0);
  assert.equal(sum(failures.map((one) => one.count)), failedCount);
});

test("an interrupt ends all threads, with what was measured", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => after(5) }).start();
  const mode = { kind: "duration", durationMs: 60_000 } as const;
  const plan = planFor(server.url, 2, { load: holdAt(4), measurement: { mode } });
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const observer: RunObserver = { onBatch: () => begin() };
  const running = startPlan(plan, { openObserver: async () => observer, check: () => Promise.resolve() });
  await begun;
  assert.ok(server.successCount > 0);
  running.interrupt();
  const { isInterrupted, completedCount, failedCount, cancelledCount, sentCount } = await running.result;
  assert.equal(isInterrupted, true);
  assert.ok(completedCount > 0);
  assert.equal(sentCount, completedCount + failedCount + cancelledCount);
});

test("a server that is not there is one error", LIMIT, async () => {
  await assert.rejects(
    run(planFor("127.0.0.1:1", 2)),
    (error) => error instanceof RunError && error.code === "unreachable",
  );
});

test("an error names the agent that is lost, or the bus if it is away", LIMIT, async () => {
  for (const isConnected of [true, false]) {
    const open: SeatsElsewhere["open"] = (index, { gone }) => {
      const name = `h/${index + 1}`;
      queueMicrotask(() => gone("why", false));
      return { name, host: { id: name, name }, post: () => {}, end: async () => {} };
    };
    const elsewhere = { count: 2, threads: 1, allowLost: 0, isConnected, open };
    const options = { count: 1, elsewhere, signal: new RunSignal(), maxOutstanding: 9, wantsRecords: false };
    await assert.rejects(openFleet(planFor("127.0.0.1:1", 1), options), (error) => {
      assert.ok(error instanceof RunError);
      assert.match(error.message, /: why$/);
      assert.deepEqual([/h\/1/.test(error.message), /NATS/.test(String(error.hint))], [isConnected, !isConnected]);
      return true;
    });
  }
});

test("what several threads cannot do is refused by name, all at once", LIMIT, async () => {
  const plan = planFor("127.0.0.1:1", 2, { target: { sharedMemory: "system" }, client: { isMpi: true } });
  await assert.rejects(run(plan), (error) => {
    assert.ok(error instanceof UserError);
    assert.deepEqual(
      error.problems.map(({ path }) => path),
      Array.from({ length: 2 }, () => ({ setting: "client.workers" })),
    );
    return true;
  });
});

test(
  "several servers get the requests in turn, also where few are sent or one thread sends them all",
  LIMIT,
  async () => {
    await using a = await new KserveServer({}).start();
    await using b = await new KserveServer({}).start();
    await using c = await new KserveServer({}).start();
    const target = { moreUrls: [b.url, c.url] };
    for (const [concurrency, requests] of [
      [3, 3],
      [1, 9],
      [4, 30],
    ] as const) {
      const plan = planFor(a.url, 2, { target, load: holdAt(concurrency), measurement: count(requests) });
      const { error, servers = [] } = await run(plan);
      const sentCounts = servers.map(({ sentCount }) => sentCount);
      assert.deepEqual([error, sentCounts], [undefined, Array(3).fill(requests / 3)]);
    }
  },
);
