#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, rate, triton } from "rampart";

/** How do throughput and latency of simple change as load grows? */
export default defineScenario({
  name: "simple",
  target: triton("127.0.0.1:45381", { model: "simple" }),
  // One row per level: where throughput stops growing, the server is at its limit.
  load: rate([60, 80, 100], { for: "300 ms" }),
  assert: [errorRate().is(0)],
});
