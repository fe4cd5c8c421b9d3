#!/usr/bin/env -S rampart run
import {
  defineScenario,
  duration,
  embedded,
  errorRate,
  hold,
  integer,
  p99,
  percent,
  random,
  soak,
  warmup,
} from "rampart";

/** The same load for a long time: a leak shows as drift. `--set time="4 h"` is a real test; here it is short. */
export default defineScenario({
  name: "soak",
  params: { users: integer(4), time: duration("3 s"), maxDrift: percent("20 %"), limit: duration("250 ms") },
  target: embedded({ latency: "2 ms" }),
  load: ({ users, time, maxDrift }) => [warmup("500 ms", hold(users)), soak(users, { for: time, maxDrift })],
  inputs: random(),
  // Ends a run of four hours early, when the server breaks after ten minutes.
  assert: ({ limit }) => [p99("latency").below(limit).abortAfter("1 s"), errorRate().below("1 %").abortAfter("1 s")],
});
