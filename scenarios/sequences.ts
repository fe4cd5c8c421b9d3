#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, hold, input, p99, param, triton } from "rampart";

/** A stateful model on Triton: each request belongs to a sequence, and those of a sequence go to the same instance. */
export default defineScenario({
  name: "sequences",
  params: { url: param.text("localhost:8001"), model: param.text("simple_sequence"), requests: param.integer(2000) },
  target: ({ url, model }) => triton(url, { protocol: "grpc", model, streaming: true }),
  load: ({ requests }) => hold(4, { requests }),
  sequences: { length: 10, variation: "20 %" },
  inputs: input.zero(),
  assert: [p99("latency").below("2 s"), errorRate().is(0)],
});
