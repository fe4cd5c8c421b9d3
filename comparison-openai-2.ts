#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, hold, mix, openai, p99, prompts } from "rampart";

const inputs = prompts({ isl: 10, osl: 2 });

/** Which is faster, mock-llm or another? */
export default defineScenario({
  name: "mock-llm-or-another",
  // Every other request goes to the other model, so both are measured under the same conditions.
  target: mix([
    {
      name: "mock-llm",
      target: openai("127.0.0.1:45381", {
        model: "mock-llm",
        streaming: true,
        tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
      }),
      inputs,
    },
    {
      name: "another",
      target: openai("127.0.0.1:45381", {
        model: "another",
        streaming: true,
        tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
      }),
      inputs,
    },
  ]),
  // Each user sends the next request when the last one is answered.
  load: hold(2, { for: "100 ms" }),
  assert: [p99("latency").below("1 h"), errorRate().is(0)],
});
