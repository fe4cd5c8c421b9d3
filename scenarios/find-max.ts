#!/usr/bin/env -S rampart run
import { defineScenario, embedded, errorRate, findMax, p90, ramp, throughput } from "rampart";

/** How many requests in flight keep p90 of latency below 50 ms? */
export default defineScenario({
  name: "the limit under an SLO",
  target: embedded({ latency: "2 ms" }),
  load: findMax({
    range: ramp(1, 8),
    where: [p90("latency").below("50 ms"), errorRate().below("5 %")],
    window: "200 ms",
    settle: "100 ms",
    forAtMost: "5 s",
  }),
  assert: [throughput().above(50)],
});
