#!/usr/bin/env -S rampart run
import { defineScenario, openai } from "rampart";
import base from "./comparison-openai.ts";

/** The same as comparison-openai.ts, on the other server. */
export default defineScenario({
  ...base.definition,
  name: "mock-llm-other",
  target: openai("127.0.0.1:36709", {
    model: "mock-llm",
    streaming: true,
    tokenizer: "/work/w/wizard/test/tokenize/fixtures/tiny",
  }),
});
