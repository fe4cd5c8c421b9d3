#!/usr/bin/env -S rampart run
import { defineScenario, errorRate, hold, input, mix, openai, p90, param } from "rampart";

/** What do larger batches of embeddings cost? The report has a row for each batch size. */
const of = (url: string, model: string, batch: number) => ({
  name: `batch ${batch}`,
  target: openai(url, { model, endpoint: "embeddings", tokenizer: "../test/tokenize/fixtures/tiny" }),
  inputs: input.prompts({ isl: 32, batch, count: 20 }),
});

export default defineScenario({
  name: "batches of embeddings",
  params: { url: param.text("localhost:8000"), model: param.text("mock-llm"), requests: param.integer(600) },
  target: ({ url, model }) => mix([of(url, model, 1), of(url, model, 8), of(url, model, 32)]),
  load: ({ requests }) => hold(3, { requests }),
  assert: [p90("latency").where({ target: "batch 32" }).below("2 s"), errorRate().is(0)],
});
