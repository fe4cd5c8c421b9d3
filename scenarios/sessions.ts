#!/usr/bin/env -S rampart run
import { defineScenario, embeddedLlm, errorRate, input, p90, sessions } from "rampart";

/** Conversations of several turns: each turn is sent with the turns before it and their responses. */
export default defineScenario({
  name: "conversations",
  target: embeddedLlm({
    streaming: true,
    timeToFirstToken: "8 ms",
    interTokenLatency: "1 ms",
    tokenizer: "../test/tokenize/fixtures/tiny",
  }),
  load: sessions(4),
  inputs: input.prompts({
    isl: 24,
    osl: 6,
    sessions: { count: 12, turns: { mean: 3, stddev: 1 }, delay: "20 ms" },
  }),
  assert: [p90("timeToFirstToken").below("1 s"), errorRate().is(0)],
});
