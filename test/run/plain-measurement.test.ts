import assert from "node:assert/strict";
import { test } from "node:test";
import { joinParallel, mergeInTime } from "../../src/measure/merge.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { rate } from "../../src/scenario/loads/rates.ts";
import { mix } from "../../src/scenario/mix.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";

test("what a run measures goes through a clone and through JSON and comes back equal", LIMIT, async () => {
  const target = mix([
    { name: "tensors", target: embedded({ errorRate: "20 %" }), weight: 2 },
    { name: "stream", target: embedded({ protocol: "grpc", streaming: true }) },
    {
      name: "chat",
      target: embeddedLlm({ streaming: true, timeToFirstToken: "2 ms", tokenizer: TINY }),
      inputs: prompts({ isl: 8, osl: 4, count: 3 }),
      tags: ({ isl }) => ({ isl }),
    },
  ]);
  const plan = toPlan(defineScenario({ name: "x", target, load: rate(200, { requests: 120 }) }), "/folder");
  const observer = async () => ({});
  const { levels, error } = await startPlan(plan, { openObserver: observer, check: async () => checkPlan(plan) })
    .result;
  assert.equal(error, undefined, error?.message);
  const { window } = levels[0] ?? assert.fail();
  const { groups = [], memberServers, tokens, scheduledLatency, completions, numbers } = window;
  for (const part of [memberServers, tokens, scheduledLatency, completions, numbers, groups[2]?.window.tokens])
    assert.ok(part !== undefined, "the run has all that a measurement can have");
  for (const one of [window, mergeInTime([window, window]), joinParallel(groups.map((group) => group.window))]) {
    assert.deepEqual(structuredClone(one), one);
    assert.deepEqual(JSON.parse(JSON.stringify(one)), one);
  }
  assert.deepEqual(joinParallel(groups.map((group) => group.window)).requestCount, window.requestCount);
});
