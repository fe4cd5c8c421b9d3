import { type PromptsPlan, promptsSchema } from "../../plan/prompts.ts";
import type { InputKind } from "../input-kind.ts";

export const promptsInputs: InputKind<PromptsPlan> = {
  schema: promptsSchema,
  makes: "payloads",
  isInOrder: ({ isTrace = false }) => isTrace,
  orders: ({ sessions, isTrace, fileFormat }) => {
    if (isTrace) return ["at-times"];
    return sessions === null && fileFormat === undefined ? ["in-turn"] : ["in-turn", "in-sessions"];
  },
  paths: ({ file }) => (file === "" ? [] : [file]),
  perfAnalyzer: () => ({
    names: ["payloads.json"],
    note: "only a scenario makes up prompts: perf_analyzer's flags take a file of payloads",
  }),
  load: async (plan, _model, order) => (await import("../prompts/prompt-thread.ts")).makePrompts(plan, order),
};
