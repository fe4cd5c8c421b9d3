import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createEntries } from "../../../src/inputs/prompts/prompt-sources.ts";
import { DEFAULT_PROMPTS, type PromptSettings, type PromptSource } from "../../../src/inputs/prompts/settings.ts";
import type { PromptEntry } from "../../../src/service/openai/prompt-entry.ts";
import type { Tokenizer } from "../../../src/tokenize/tokenizer.ts";
import { makeFolder } from "../../make-folder.ts";
import { loadTinyTokenizer } from "../tiny-tokenizer.ts";

export const tiny = loadTinyTokenizer();

/** All entries of a run with the defaults, seed 42 and what is given. @param tokenizer null for none */
export async function collect(
  settings: Partial<PromptSettings>,
  tokenizer: Tokenizer | null = tiny,
): Promise<PromptEntry[]> {
  return await toArray(createEntries({ ...DEFAULT_PROMPTS, seed: 42, ...settings }, tokenizer ?? undefined));
}

export async function toArray<T>(items: AsyncIterable<T>): Promise<T[]> {
  const array: T[] = [];
  for await (const item of items) array.push(item);
  return array;
}

/** Runs with a folder of the given files, which is removed afterwards. */
export async function withFiles<T>(
  files: Readonly<Record<string, string | Uint8Array>>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = makeFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return await use(folder);
}

/** Entries of one file of the given kind. */
export function collectFrom(
  kind: Exclude<PromptSource["kind"], "synthetic">,
  content: string,
  settings: Partial<PromptSettings> = {},
  tokenizer: Tokenizer | null = tiny,
): Promise<PromptEntry[]> {
  return withFiles({ "data.txt": content }, (folder) => {
    const path = join(folder, "data.txt");
    const source: PromptSource = kind === "conversations" ? { kind, path, isMultiTurn: true } : { kind, path };
    return collect({ source, ...settings }, tokenizer);
  });
}
