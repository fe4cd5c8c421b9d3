#!/usr/bin/env -S rampart run
import { concurrency, defineScenario, errorRate, findMax, openai, p99, prompts } from "rampart";

/** How many users can mock-llm take within its limits? */
export default defineScenario({
  name: "mock-llm-limit",
  target: openai("127.0.0.1:45381", {
    model: "mock-llm",
    streaming: true,
    tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
  }),
  // Doubles the load until a limit breaks, then bisects; each point is measured until its verdict is certain.
  load: findMax({
    over: concurrency(2, 3),
    where: [p99("latency").below("1 h"), errorRate().below(0.01)],
    settle: "100 ms",
    window: "100 ms",
    atMost: "400 ms",
  }),
  inputs: prompts({ isl: 10, osl: 2 }),
});
