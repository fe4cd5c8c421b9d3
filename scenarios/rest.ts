#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, extracted, hold, http, input, p90, param } from "rampart";

/** Any HTTP API: bodies from a function, the same in every run, and values of the responses in the report. */
export default defineScenario({
  name: "REST",
  params: { url: param.text("localhost:8000/v1/completions"), requests: param.integer(500) },
  target: ({ url }) => http(url, { headers: { "X-Team": "search" }, extract: { tokens: "usage.completion_tokens" } }),
  inputs: input.generate(
    ({ index, random }) => {
      const length = 4 + Math.floor(random() * 8);
      const body = { model: "mock-llm", prompt: `Question ${index}`, max_tokens: length };
      return { body, tags: { length: length < 8 ? "short" : "long" } };
    },
    { count: 50, seed: 7 },
  ),
  load: ({ requests }) => hold(4, { requests }),
  check: ({ json }) => Array.isArray((json() as { choices?: unknown }).choices) || "there are no choices",
  assert: [
    p90("latency").where({ length: "short" }).below("2 s"),
    extracted("tokens").mean().above(3),
    errorRate().is(0),
  ],
});
