#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, http, spike } from "rampart";

/** How long does the server take to recover from 4 users at once? */
export default defineScenario({
  name: "http-spike",
  target: http("127.0.0.1:45381", { path: "/v2/health/ready" }),
  // The normal load, the peak, and the normal load again; reports the time until the latency is back.
  load: spike({ base: 2, peak: 4, at: "500 ms", for: "100 ms" }),
  assert: [errorRate().is(0)],
});
