#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, hold, integer, p99, random, text, triton } from "rampart";

/** A pipeline of models on Triton: the report has the queue and compute time of each model in it. */
export default defineScenario({
  name: "ensemble",
  params: { url: text("localhost:8000"), model: text("ensemble_two"), requests: integer(2000) },
  target: ({ url, model }) => triton(url, { model }),
  load: ({ requests }) => hold(2, { requests }),
  inputs: random(),
  assert: [p99("latency").below("2 s"), errorRate().is(0)],
});
