import assert from "node:assert/strict";
import { test } from "node:test";
import { planLooks, requestsToKeep } from "../../../src/measure/limits/looks.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { type ResolvedLevel, resolveLimits } from "../../../src/run/conduct/resolve-limits.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { rate } from "../../../src/scenario/loads/rates.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { makeWindow, type WindowParts } from "../../measure/make-window.ts";

function planOf(limit: AssertionPlan, load: ReturnType<typeof hold> | ReturnType<typeof rate> = hold(4)): Plan {
  return { ...toPlan(defineScenario({ name: "x", target: embedded(), load }), "/"), limits: [limit] };
}

/** Measures windows of these parts, the last one again and again. */
async function resolve(
  plan: Plan,
  parts: readonly WindowParts[],
  maxMs = 10_000,
  sendsWhenDue = true,
): Promise<ResolvedLevel | undefined> {
  const nextWindow = (trial: number): Promise<Measurement> =>
    Promise.resolve(makeWindow(parts[Math.min(trial, parts.length) - 1]));
  return resolveLimits({ plan, level: 100, batchSize: 1, windowMs: 1000, maxMs, sendsWhenDue, nextWindow });
}

const spread = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => 1e6 + ((index * 617) % 1000) * 1000);
const median = (limitMs: number): AssertionPlan => ({
  metric: { key: "latency", statistic: 50 },
  comparison: "below",
  limit: limitMs * 1e6,
});

test("a limit that is far away is resolved in two windows", async () => {
  for (const [limitMs, state] of [
    [10, "kept"],
    [0.5, "broken"],
  ] as const) {
    const resolved = await resolve(planOf(median(limitMs)), [{ latenciesNs: spread(400) }]);
    assert.deepEqual([resolved?.windows.length, resolved?.limits.state], [2, state]);
  }
});

test("a limit near the value is measured longer", async () => {
  const resolved = await resolve(planOf(median(1.53)), [{ latenciesNs: spread(400) }], 60_000);
  assert.equal(resolved?.limits.state, "kept");
  assert.ok((resolved?.windows.length ?? 0) > 2, String(resolved?.windows.length));
});

test("a limit that stays inside the interval is unresolved after the longest time", async () => {
  const resolved = await resolve(planOf(median(1.5)), [{ latenciesNs: spread(40) }]);
  assert.deepEqual([resolved?.windows.length, resolved?.limits.state], [10, "unresolved"]);
});

test("a level with too few requests for its percentile ends early, unless some are above the limit", async () => {
  const p99 = { ...median(10), metric: { key: "latency", statistic: 99 } };
  const few = await resolve(planOf(p99), [{ latenciesNs: spread(4) }], 30_000);
  assert.deepEqual([few?.windows.length, few?.limits.state], [9, "unresolved"]);
  const slow = await resolve(planOf(p99), [{ latenciesNs: spread(4) }, { latenciesNs: [1e6, 1e6, 1e6, 2e7] }], 30_000);
  assert.equal(slow?.windows.length, 30);
});

test("as many requests as a percentile needs decide it in the longest time, and one fewer do not", () => {
  const needed = requestsToKeep(99, 30);
  const { error = 0 } = planLooks(30).at(-1) ?? {};
  // The probability that none of these requests is above a limit that 1 % are above.
  assert.ok(0.99 ** needed <= error && 0.99 ** (needed - 1) > error, String(needed));
});

test("a level whose requests all fail breaks the limits", async () => {
  const resolved = await resolve(planOf(median(10)), [{ latenciesNs: [], failedCount: 7 }]);
  assert.equal(resolved?.limits.state, "broken");
  assert.equal(resolved?.limits.reason, "all 14 requests failed");
});

test("a rate that was not sent is unresolved, however fast its requests were", async () => {
  const window = { latenciesNs: spread(50), sentCount: 50 };
  const resolved = await resolve(planOf(median(10), rate(100)), [window], 3000);
  assert.equal(resolved?.limits.state, "unresolved");
  assert.equal(resolved?.limits.reason, "only 50 of 100 requests/s were sent");
});

test("a limit on times from the due time is unresolved where only the client was late", async () => {
  const plan = planOf({ ...median(10), metric: { key: "scheduledLatency", statistic: 50 } }, rate(100));
  const late = (latencyMs: number, delayMs: number): WindowParts => {
    const latenciesNs = spread(100).map((ns) => ns + latencyMs * 1e6);
    return {
      latenciesNs,
      scheduledNs: latenciesNs.map((ns) => ns + delayMs * 1e6),
      sendDelayNs: latenciesNs.map(() => delayMs * 1e6),
    };
  };
  const stateOf = async (parts: WindowParts, sendsWhenDue = true): Promise<string | undefined> =>
    (await resolve(plan, [parts], 10_000, sendsWhenDue))?.limits.state;
  assert.equal(await stateOf(late(1, 50)), "unresolved");
  const { limits } = (await resolve(plan, [late(1, 50)])) as ResolvedLevel;
  assert.match(limits.reason ?? "", /^the client was late: 100 % of the requests were more than 1 ms late/);
  // A slow server breaks it, also where the client is late; and so do sends that wait for responses.
  assert.equal(await stateOf(late(50, 50)), "broken");
  assert.equal(await stateOf(late(1, 50), false), "broken");
  assert.equal(await stateOf(late(1, 0.5)), "kept");
});

test("a run that has stopped has no result", async () => {
  const stopped = await resolveLimits({
    plan: planOf(median(10)),
    level: 1,
    batchSize: 1,
    windowMs: 1,
    maxMs: 10,
    nextWindow: () => Promise.resolve(undefined),
  });
  assert.equal(stopped, undefined);
});
