#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, hold, input, p99, param, triton } from "rampart";

/**
 * A server that the scenario starts and stops: here `rampart mock`, with a latency that the command line can change
 * (`--set latency="5 ms"`). Replace the command by that of your own server, or by `docker run`.
 */

export default defineScenario({
  name: "own server",
  params: {
    users: param.integer(4, { min: 1, description: "Requests in flight." }),
    latency: param.duration("2 ms", { description: "Time before each response of the server." }),
  },
  setup: async ({ start, waitUntilReady, rampart, params }) => {
    const server = await start(
      [...rampart, "mock", "--http-port", "0", "--grpc-port", "0", "--latency", params.latency.replace(" ", "")],
      { ready: /http ([\d.:]+)/, timeout: "30 s" },
    );
    const url = server.match[1] ?? "";
    await waitUntilReady(`http://${url}/v2/health/ready`);
    return { url };
  },
  target: (_params, { url }) => triton(url, { model: "simple" }),
  load: ({ users }) => hold(users, { requests: 500 }),
  inputs: input.random(),
  assert: [p99("latency").below("500 ms"), errorRate().is(0)],
});
