#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, openai, prompts, rate, soak } from "rampart";

/** Does mock-llm stay the same under 50 requests per second for a long time? */
export default defineScenario({
  name: "mock-llm-soak",
  target: openai("127.0.0.1:45381", {
    model: "mock-llm",
    streaming: true,
    tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
  }),
  // Fails when latency or throughput drift from the first third of the time to the last.
  load: soak(rate(50), { for: "1 s" }),
  inputs: prompts({ isl: 10, osl: 2 }),
  // A server that breaks ends the run early.
  assert: [errorRate().below(0.01).abortAfter("10 s")],
});
