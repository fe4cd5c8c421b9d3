#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, rate, soak, triton } from "rampart";

/** Does simple stay the same under 50 requests per second for a long time? */
export default defineScenario({
  name: "simple-soak",
  target: triton("127.0.0.1:45381", { model: "simple" }),
  // Fails when latency or throughput drift from the first third of the time to the last.
  load: soak(rate(50), { for: "1 s" }),
  // A server that breaks ends the run early.
  assert: [errorRate().below(0.01).abortAfter("10 s")],
});
