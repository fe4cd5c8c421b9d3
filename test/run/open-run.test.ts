import assert from "node:assert/strict";
import { test } from "node:test";
import { defineScenario, embedded, hold } from "../../src/index.ts";
import { RunError, UserError } from "../../src/plan/problem.ts";
import { RunSignal } from "../../src/run/interrupt.ts";
import { openRun, startPlan } from "../../src/run/run-plan.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { makePlan } from "../plan/make-plan.ts";
import { KserveServer } from "./kserve-server.ts";

const options = { openObserver: async () => ({}) };

test("an opened run has its target and one sender, or a fleet of several", async () => {
  await using server = await new KserveServer({}).start();
  for (const workers of [1, 2]) {
    const plan = makePlan({ target: { url: server.url }, client: { workers } });
    const open = await openRun(plan, new RunSignal(), options);
    assert.equal(open.parts.session.service.model.name, "simple");
    assert.equal(open.fleet?.count, workers === 1 ? undefined : workers);
    assert.equal(open.growth, undefined);
    await open.close();
  }
  assert.equal(server.successCount, 0, "nothing was sent");
});

test("a server that is not there leaves nothing open", async () => {
  const plan = makePlan({ target: { url: "127.0.0.1:1" } });
  await assert.rejects(openRun(plan, new RunSignal(), options), RunError);
});

test("a plan is checked for conflicts unless its front door has done so", async () => {
  const plan = makePlan({ target: { url: "127.0.0.1:1" }, client: { kind: "grpc-js" } });
  const check = (): Promise<void> => Promise.resolve();
  await assert.rejects(openRun(plan, new RunSignal(), { ...options, check }), UserError);
  await assert.rejects(openRun(plan, new RunSignal(), options), RunError);
});

test("a load that cannot be divided is refused before the target is contacted", async () => {
  const plan = makePlan({ target: { url: "127.0.0.1:1" }, client: { workers: 2, isMpi: true } });
  await assert.rejects(openRun(plan, new RunSignal(), options), UserError);
});

/** Two runs in one process, at the same time. */

test("each run calls its own functions, though they have the same names", async () => {
  const counts = { right: 0, wrong: 0 };
  const planOf = (answer: keyof typeof counts) => {
    function isRight(): boolean {
      counts[answer]++;
      return answer === "right";
    }
    return toPlan(
      defineScenario({ name: answer, target: embedded(), load: hold(1, { requests: 20 }), check: isRight }),
      process.cwd(),
    );
  };
  const plans = [planOf("right"), planOf("wrong")];
  assert.deepEqual(
    plans.map(({ check }) => check?.function),
    ["check (isRight) #1", "check (isRight) #1"],
  );
  const results = await Promise.all(
    plans.map((plan) => startPlan(plan, { openObserver: async () => ({}), check: async () => {} }).result),
  );
  assert.deepEqual(
    results.map(({ completedCount, failedCount }) => [completedCount, failedCount]),
    [
      [counts.right, 0],
      [0, counts.wrong],
    ],
  );
  assert.ok(counts.right >= 20 && counts.wrong >= 20);
});
