#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, findMax, p99, requestRate, triton } from "rampart";

/** How high a rate can simple take within its limits? */
export default defineScenario({
  name: "simple-limit",
  target: triton("127.0.0.1:45381", { model: "simple" }),
  // Doubles the load until a limit breaks, then bisects; each point is measured until its verdict is certain.
  load: findMax({
    over: requestRate(20, 40),
    where: [p99("scheduledLatency").below("1 h"), errorRate().below(0.01)],
    settle: "100 ms",
    window: "100 ms",
    atMost: "400 ms",
  }),
});
