#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, hold, input, p99, param, triton } from "rampart";

/** A pipeline of models on Triton: the report has the queue and compute time of each model in it. */
export default defineScenario({
  name: "ensemble",
  params: { url: param.text("localhost:8000"), model: param.text("ensemble_two"), requests: param.integer(2000) },
  target: ({ url, model }) => triton(url, { model }),
  load: ({ requests }) => hold(2, { requests }),
  inputs: input.random(),
  assert: [p99("latency").below("2 s"), errorRate().is(0)],
});
