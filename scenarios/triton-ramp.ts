#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, input, p99, param, ramp, throughput, triton } from "rampart";

/** A model on Triton at rising concurrency: `--set url=host:8001 --set model=resnet50`. */
export default defineScenario({
  name: "Triton ramp",
  params: {
    url: param.text("localhost:8001", { description: "Address of Triton's gRPC." }),
    model: param.text("simple"),
    time: param.duration("5 s", { description: "Time at each concurrency." }),
    limit: param.duration("250 ms", { description: "The p99 latency must be below this." }),
  },
  target: ({ url, model }) => triton(url, { protocol: "grpc", model }),
  load: ({ time }) => ramp(1, 7, { step: 3, for: time }),
  warmupRequests: 10,
  inputs: input.random(),
  assert: ({ limit }) => [p99("latency").below(limit), throughput().above(10), errorRate().is(0)],
});
