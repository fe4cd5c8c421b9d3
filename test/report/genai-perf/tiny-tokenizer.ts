import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";

const FOLDER = join(import.meta.dirname, "../../tokenize/fixtures/tiny");

/** Counts tokens as GenAI-Perf did with the tokenizer of the recorded runs. */
export function createTinyCounter(): (text: string) => number {
  const read = (file: string): object => JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as object;
  const tokenizer = new Tokenizer(read("tokenizer.json"), read("tokenizer_config.json"));
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
}
