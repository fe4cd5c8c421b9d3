#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, intervals, openai, p99, prompts } from "rampart";

/** How does mock-llm do under recorded traffic? */
export default defineScenario({
  name: "mock-llm-replay",
  target: openai("127.0.0.1:45381", {
    model: "mock-llm",
    streaming: true,
    tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
  }),
  // The gaps between requests are those of the file, again and again.
  load: intervals("./gaps.txt", { for: "200 ms" }),
  inputs: prompts({ isl: 10, osl: 2 }),
  // scheduledLatency counts from the time when a request was due.
  assert: [p99("scheduledLatency").below("1 h"), errorRate().is(0)],
});
