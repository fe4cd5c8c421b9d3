#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, openai, p99, prompts, ramp } from "rampart";

/** How do throughput and latency of mock-llm change as load grows? */
export default defineScenario({
  name: "mock-llm",
  target: openai("127.0.0.1:45381", {
    model: "mock-llm",
    streaming: true,
    tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
  }),
  // One row per level: where throughput stops growing, the server is at its limit.
  load: ramp(1, 2, { for: "100 ms" }),
  inputs: prompts({ isl: 10, osl: 2 }),
  assert: [p99("latency").below("1 h"), errorRate().is(0)],
});
