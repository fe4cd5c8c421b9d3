// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makePromptDataset } from "../../../src/inputs/prompts/prompt-dataset.ts";
import { makePrompts } from "../../../src/inputs/prompts/prompt-thread.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { makePromptsPlan } from "../../plan/make-prompts-plan.ts";
import { FAILING_WORKERS } from "../../runtime/failing-workers.ts";

/** Prompts are made in a thread of their own, as they would be in this one. */

const fixed = (mean: number) => ({ mean, stddev: 0 });
const PLAN = makePromptsPlan({
  seed: 3,
  count: 20,
  isl: { mean: 20, stddev: 5 },
  osl: fixed(7),
  extra: { seed: 1, left: () => "out" },
});

test("a thread makes the same requests, sessions too", async () => {
  assert.deepEqual(await makePrompts(PLAN, "in-turn"), await makePromptDataset(PLAN, "in-turn"));
  const sessions = { ...PLAN, sessions: { count: 4, turns: fixed(2), delayMs: 10 } };
  const made = await makePrompts(sessions, "in-sessions");
  assert.deepEqual(made, await makePromptDataset(sessions, "in-sessions"));
  assert.deepEqual(
    made.streams.map((steps) => steps.length),
    [2, 2, 2, 2],
  );
});

test("this thread is not blocked while the other creates them", async () => {
  let turns = 0;
  let isDone = false;
  const making = makePrompts({ ...PLAN, isl: fixed(2000), count: 200 }, "in-turn").finally(() => {
    isDone = true;
  });
  while (!isDone) {
    turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await making).streams[0]?.length, 200);
  assert.ok(turns > 50, `${turns} turns`);
});

test("errors are the same as without a thread", async () => {
  const plan = { ...PLAN, tokenizer: `${PLAN.tokenizer}/absent` };
  const own = await makePromptDataset(plan, "in-turn").catch((error: unknown) => error);
  const sent = await makePrompts(plan, "in-turn").catch((error: unknown) => error);
  assert.ok(own instanceof UserError && sent instanceof UserError);
  assert.deepEqual(sent.problems, own.problems);
});

for (const [what, start, reason] of FAILING_WORKERS) {
  test(`when the thread ${what}, this one creates them, with a warning`, async () => {
    const { streams, warnings } = await makePrompts(PLAN, "in-turn", start);
    assert.deepEqual(streams, (await makePromptDataset(PLAN, "in-turn")).streams);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] as string, reason);
  });
}
