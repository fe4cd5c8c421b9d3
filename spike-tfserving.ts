#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, spike, tfserving } from "rampart";

/** How long does simple take to recover from 4 users at once? */
export default defineScenario({
  name: "simple-spike",
  target: tfserving("127.0.0.1:37201", { model: "simple", shapes: { INPUT0: [1, 16], INPUT1: [1, 16] } }),
  // The normal load, the peak, and the normal load again; reports the time until the latency is back.
  load: spike({ base: 2, peak: 4, at: "500 ms", for: "100 ms" }),
  assert: [errorRate().is(0)],
});
