#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, grpc, spike } from "rampart";

/** How long does demo.v1.Text/Echo take to recover from 4 users at once? */
export default defineScenario({
  name: "demo.v1.Text-Echo-spike",
  target: grpc("127.0.0.1:37201", { method: "demo.v1.Text/Echo", message: {} }),
  // The normal load, the peak, and the normal load again; reports the time until the latency is back.
  load: spike({ base: 2, peak: 4, at: "500 ms", for: "100 ms" }),
  assert: [errorRate().is(0)],
});
