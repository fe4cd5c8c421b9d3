#!/usr/bin/env -S rampart run
import { defineScenario, embedded, errorRate, hold, input, p99, param, soak, warmup } from "rampart";

/** The same load for a long time: a leak shows as drift. `--set time="4 h"` is a real test; here it is short. */
export default defineScenario({
  name: "soak",
  params: {
    users: param.integer(4),
    time: param.duration("3 s"),
    maxDrift: param.percent("20 %"),
    limit: param.duration("250 ms"),
  },
  target: embedded({ latency: "2 ms" }),
  load: ({ users, time, maxDrift }) => [warmup("500 ms", hold(users)), soak(users, { for: time, maxDrift })],
  inputs: input.random(),
  // Ends a run of four hours early, when the server breaks after ten minutes.
  assert: ({ limit }) => [p99("latency").below(limit).abortAfter("1 s"), errorRate().below("1 %").abortAfter("1 s")],
});
