#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, openai, p99, prompts, rate } from "rampart";

/** How does mock-llm do at 50 requests per second? */
export default defineScenario({
  name: "mock-llm",
  target: openai("127.0.0.1:45381", {
    model: "mock-llm",
    streaming: true,
    tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
  }),
  // Requests are sent on time, whether or not earlier ones are answered.
  load: rate(50, { for: "300 ms" }),
  inputs: prompts({ isl: 10, osl: 2 }),
  // scheduledLatency counts from the time when a request was due.
  assert: [p99("scheduledLatency").below("1 h"), p99("timeToFirstToken").below("1 h"), errorRate().is(0)],
});
