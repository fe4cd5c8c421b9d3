#!/usr/bin/env -S rampart run
import { defineScenario, embedded, errorRate, p90, param, rateSteps } from "rampart";

/** Which rates keep the SLO? Requests arrive like those of many independent users, whatever the server does. */
export default defineScenario({
  name: "rates under an SLO",
  params: { time: param.duration("2 s"), slo: param.duration("100 ms") },
  target: embedded({ latency: "exponential:3ms" }),
  load: ({ time }) => rateSteps([50, 100, 200], { distribution: "poisson", for: time }),
  // From the time when a request was due, so that a server that falls behind cannot hide it.
  assert: ({ slo }) => [p90("scheduledLatency").below(slo), errorRate().is(0)],
});
