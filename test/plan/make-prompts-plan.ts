import type { PromptsPlan } from "../../src/plan/prompts.ts";
import { TINY } from "../tokenize/tiny.ts";

/** Three synthetic prompts of 20 tokens with nothing else, but for what is changed. */
export function makePromptsPlan(change: Partial<PromptsPlan> = {}): PromptsPlan {
  return {
    kind: "prompts",
    format: "chat",
    model: "m",
    isStreaming: true,
    tokenizer: TINY,
    revision: "main",
    file: "",
    seed: 0,
    count: 3,
    isl: { mean: 20, stddev: 0 },
    osl: null,
    mix: [],
    prefix: null,
    sessions: null,
    systemTokens: 0,
    textsPerRequest: 1,
    images: null,
    extra: {},
    ...change,
  };
}
