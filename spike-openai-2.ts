#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, openai, prompts, rate, spike } from "rampart";

/** How long does mock-llm take to recover from 40 requests per second? */
export default defineScenario({
  name: "mock-llm-spike",
  target: openai("127.0.0.1:45381", {
    model: "mock-llm",
    streaming: true,
    tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
  }),
  // The normal load, the peak, and the normal load again; reports the time until the latency is back.
  load: spike({ base: rate(20), peak: rate(40), at: "500 ms", for: "100 ms" }),
  inputs: prompts({ isl: 10, osl: 2 }),
  assert: [errorRate().is(0)],
});
