#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, hold, openai, p99, prompts } from "rampart";

/** mock-llm, to be compared with another server. */
export default defineScenario({
  name: "mock-llm",
  target: openai("127.0.0.1:45381", {
    model: "mock-llm",
    streaming: true,
    tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
  }),
  // Each user sends the next request when the last one is answered.
  load: hold(2, { for: "100 ms" }),
  inputs: prompts({ isl: 10, osl: 2 }),
  assert: [p99("latency").below("1 h"), errorRate().is(0)],
});
