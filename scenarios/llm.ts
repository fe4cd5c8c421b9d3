#!/usr/bin/env -S rampart run
import { defineScenario, embeddedLlm, errorRate, goodput, input, outputTokensPerSec, p90, steps } from "rampart";

/** A language model that streams, at concurrency 1 and 4: nothing else has to run. For a server of your own see `openai(…)`. */
export default defineScenario({
  name: "llm",
  target: embeddedLlm({
    streaming: true,
    timeToFirstToken: "20 ms",
    interTokenLatency: "5 ms",
    tokenizer: "../test/tokenize/fixtures/tiny",
  }),
  load: steps([1, 4], { requests: 40 }),
  inputs: input.prompts({ isl: 64, osl: { mean: 12, stddev: 2 } }),
  assert: [
    p90("timeToFirstToken").below("500 ms"),
    p90("interTokenLatency").below("100 ms"),
    outputTokensPerSec().above(20),
    goodput({ timeToFirstToken: "500 ms", latency: "2 s" }).atLeast(1),
    errorRate().is(0),
  ],
});
