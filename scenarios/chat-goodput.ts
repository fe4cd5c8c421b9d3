#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, goodput, input, openai, p90, param, steps } from "rampart";

/** A chat model behind OpenAI's API: how many requests per second keep all limits, and do responses have content at all? */
export default defineScenario({
  name: "chat with goodput",
  params: {
    url: param.text("localhost:8000"),
    model: param.text("mock-llm"),
    tokenizer: param.text("o200k_base", {
      description: "A folder, a model of Hugging Face's hub, or a tiktoken encoding.",
    }),
    requests: param.integer(100, { description: "Requests at each concurrency." }),
  },
  target: ({ url, model, tokenizer }) => openai(url, { model, tokenizer, streaming: true }),
  load: ({ requests }) => steps([1, 4], { requests }),
  inputs: input.prompts({ isl: { mean: 64, stddev: 8 }, osl: 12, extra: { temperature: 0 } }),
  check: ({ content }) => content.trim() !== "" || "the response is empty",
  assert: [
    goodput({ timeToFirstToken: "2 s", interTokenLatency: "500 ms" }).atLeast(1),
    p90("timeToFirstToken").below("2 s"),
    errorRate().below("1 %"),
  ],
});
