import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { steps } from "../../src/scenario/loads/concurrency.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { openai } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { closing, listen } from "../servers/listen.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";

const USERS = [2, 4];
const LATENCY_MS = 40;
/** So long that counting its tokens takes longer than sending it. */
const TEXT = " the".repeat(100_000);

test("a server gets no load while the tokens of a level are counted", LIMIT, async () => {
  let receivedCount = 0;
  using server = closing(
    createServer((request, response) => {
      receivedCount++;
      request.resume();
      const choices = [{ index: 0, message: { content: TEXT }, finish_reason: "stop" }];
      const body = JSON.stringify({ object: "chat.completion", choices });
      setTimeout(() => response.setHeader("Content-Type", "application/json").end(body), LATENCY_MS);
    }),
  );
  const target = openai(`127.0.0.1:${await listen(server)}`, { model: "m", tokenizer: TINY, streaming: false });
  const inputs = prompts({ isl: 5, count: 2 });
  const load = steps(USERS, { for: "200 ms" });
  const plan = toPlan(defineScenario({ name: "x", target, load, inputs }), "/");
  const { result } = startPlan(plan, { openObserver: async () => ({}), check: async () => checkPlan(plan) });
  const { levels, error, sentCount, warmup } = await result;
  assert.equal(error, undefined, error?.message);
  assert.equal(sentCount, receivedCount);
  const measuredCount = levels.reduce((sum, { window }) => sum + window.requestCount, warmup?.sentCount ?? 0);
  const users = USERS.reduce((sum, count) => sum + count, 0);
  // What is in flight when a level ends, and what is sent until its window has been cut.
  const mostBetween = 3 * users;
  assert.ok(receivedCount - measuredCount <= mostBetween, `${receivedCount} requests, ${measuredCount} measured`);
});
