import type { PromptEntry } from "../../../src/service/openai/prompt-entry.ts";

/** The text whose tokens are the request's input length: all messages' contents, or all texts, joined by spaces. */
export function inputText(entry: PromptEntry): string {
  return [entry.system, ...entry.texts, ...(entry.passages ?? [])]
    .filter((text) => text !== undefined && text !== "")
    .join(" ");
}
