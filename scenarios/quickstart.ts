#!/usr/bin/env -S rampart run
import { defineScenario, embedded, errorRate, input, p90, ramp, throughput } from "rampart";

/** The embedded target at concurrency 1 to 4: nothing else has to run. */
export default defineScenario({
  name: "quickstart",
  target: embedded({ latency: "2 ms" }),
  load: ramp(1, 4, { step: 1, for: "2 s" }),
  inputs: input.random(),
  assert: [p90("latency").below("50 ms"), throughput().above(100), errorRate().is(0)],
});
