#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, spike, triton } from "rampart";

/** How long does simple take to recover from 4 users at once? */
export default defineScenario({
  name: "simple-spike",
  target: triton("127.0.0.1:45381", { model: "simple" }),
  // The normal load, the peak, and the normal load again; reports the time until the latency is back.
  load: spike({ base: 2, peak: 4, at: "500 ms", for: "100 ms" }),
  assert: [errorRate().is(0)],
});
