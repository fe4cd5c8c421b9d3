#!/usr/bin/env -S rampart run
import { defineScenario, embedded, errorRate, input, param, spike } from "rampart";

/** A sudden peak over a normal load: how long until the latency is back? Make the times longer for a server of your own. */
export default defineScenario({
  name: "spike",
  params: { base: param.integer(4), peak: param.integer(64), recoverWithin: param.duration("1 s") },
  target: embedded({ latency: "2 ms" }),
  load: ({ base, peak, recoverWithin }) =>
    spike({ base, peak, at: "1 s", for: "500 ms", after: "2 s", within: "100 %", recoverWithin }),
  inputs: input.random(),
  assert: [errorRate().is(0)],
});
