import assert from "node:assert/strict";
import { test } from "node:test";
import { startPlan } from "../../../src/run/run-plan.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { KserveServer } from "../kserve-server.ts";

/** A closed loop whose latencies are alike is measured soon, also where several threads send it. */

/** On a busy machine the conductor may be some of them late. */
const LATENCY_MS = 1000;

test("three threads wait for no more than the first responses", LIMIT, async () => {
  const onInfer = () => new Promise<undefined>((resolve) => void setTimeout(() => resolve(undefined), LATENCY_MS));
  await using server = await new KserveServer({ onInfer }).start();
  const plan = makePlan({
    ...{ target: { url: server.url }, client: { workers: 3 } },
    load: { kind: "concurrency", levels: { kind: "list", values: [6] }, search: "linear" },
    measurement: { mode: { kind: "duration", durationMs: LATENCY_MS } },
  });
  const { warmup, error } = await startPlan(plan, {
    openObserver: () => Promise.resolve({}),
    check: () => Promise.resolve(),
  }).result;
  assert.equal(error, undefined);
  // Six end before the level and six are in flight when it begins. A wait for two more latencies sends 12 more, and a busy machine some.
  assert.ok((warmup?.sentCount ?? 0) <= 30, `${warmup?.sentCount} requests were sent before the level`);
});
