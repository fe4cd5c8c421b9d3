#!/usr/bin/env -S rampart run
import { defineScenario, embeddedLlm, errorRate, hold, input, mix, outputTokensPerSec, p90 } from "rampart";

const tokenizer = "../test/tokenize/fixtures/tiny";
/** Short and long prompts, the same for both models. */
const inputs = input.prompts({
  lengths: [
    { isl: 16, osl: 6, share: "75 %" },
    { isl: 96, osl: 12, share: "25 %" },
  ],
  count: 24,
});

/** Two models under the load of both: one of ten requests goes to the candidate. Nothing else has to run. */
export default defineScenario({
  name: "A/B of two models",
  target: mix([
    {
      name: "current",
      target: embeddedLlm({ streaming: true, timeToFirstToken: "8 ms", interTokenLatency: "2 ms", tokenizer }),
      inputs,
      weight: 9,
    },
    {
      name: "candidate",
      target: embeddedLlm({ streaming: true, timeToFirstToken: "12 ms", interTokenLatency: "1 ms", tokenizer }),
      inputs,
      weight: 1,
    },
  ]),
  load: hold(4, { requests: 400 }),
  tags: ({ isl }) => ({ length: isl > 64 ? "long" : "short" }),
  assert: [
    p90("timeToFirstToken").where({ target: "candidate" }).below("500 ms"),
    p90("latency").where({ length: "long" }).below("2 s"),
    outputTokensPerSec().where({ target: "current" }).above(20),
    errorRate().is(0),
  ],
});
