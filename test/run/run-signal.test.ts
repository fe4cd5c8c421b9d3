import assert from "node:assert/strict";
import { test } from "node:test";
import { FailurePolicy } from "../../src/run/judge/failure-policy.ts";
import { RunSignal } from "../../src/run/run-signal.ts";
import type { EndedCounts } from "../../src/run/send/ended-requests.ts";
import { nowNs } from "../../src/runtime/clock.ts";
import { makePlan } from "../plan/make-plan.ts";

function makePolicy(
  maxRatio: number | null,
  counts: Partial<EndedCounts> = {},
): { policy: FailurePolicy; signal: RunSignal } {
  const signal = new RunSignal();
  const ended = { completedCount: 0, failedCount: 0, cancelledCount: 0, lastSuccessNs: nowNs(), ...counts };
  const plan = makePlan({ failures: { maxRatio }, client: { stallTimeoutMs: 100 } });
  const sent = { outstanding: 0, sentCount: 0, quota: Number.POSITIVE_INFINITY };
  return { policy: new FailurePolicy(plan, signal, ended, sent), signal };
}

test("a signal keeps its first reason, and an interrupt is no error", async () => {
  const signal = new RunSignal();
  assert.equal(signal.isStopped, false);
  signal.interrupt();
  await signal.stopped;
  assert.deepEqual([signal.isStopped, signal.isInterrupted, signal.error], [true, true, undefined]);
  const { policy, signal: failed } = makePolicy(0);
  policy.add({ kind: "http", message: "first" }, 0);
  policy.add({ kind: "http", message: "second" }, 1);
  await failed.stopped;
  assert.equal(failed.error?.message, "first");
});
