import assert from "node:assert/strict";
import { test } from "node:test";
import { defineScenario, embedded, hold } from "../../src/index.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";

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
