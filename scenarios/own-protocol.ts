#!/usr/bin/env -S rampart run
import { defineScenario, defineTarget, errorRate, extracted, hold, p99 } from "rampart";

/** JSON-RPC, which Rampart does not know: the scenario encodes calls, decodes results, and says which are wrong. */

interface Review {
  readonly text: string;
  readonly stars: number;
}

interface Result {
  readonly label: "good" | "bad";
  readonly score: number;
}

const jsonRpc = defineTarget({
  name: "sentiment by JSON-RPC",
  encode: ({ text }: Review, index) => ({
    path: "/rpc",
    body: { jsonrpc: "2.0", id: index, method: "classify", params: { text } },
  }),
  decode: (response): Result => {
    // An error of JSON-RPC has the HTTP status 200.
    const { result, error } = response.json() as { result?: Result; error?: { message: string } };
    if (result === undefined) throw new Error(error?.message ?? "there is no result");
    return result;
  },
  check: ({ label }, { stars }) => label === (stars >= 3 ? "good" : "bad") || `${label} for ${stars} stars`,
  extract: { score: ({ score }) => score, label: ({ label }) => label },
});

export default defineScenario({
  name: "reviews",
  target: jsonRpc("localhost:9090", {
    inputs: [
      { text: "I like it", stars: 5 },
      { text: "It broke at once", stars: 1 },
      { text: "Good value", stars: 4 },
    ],
  }),
  load: hold(4, { requests: 300 }),
  assert: [p99("latency").below("250 ms"), errorRate().is(0), extracted("score").min().atLeast(0.5)],
});
