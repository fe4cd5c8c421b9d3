import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import type { Tokenizer } from "../../src/tokenize/tokenizer.ts";
import { TINY } from "../tokenize/tiny.ts";

/** A byte-level BPE tokenizer of 2000 tokens, built for these tests. */
export function loadTinyTokenizer(): Tokenizer {
  const read = (name: string): object => JSON.parse(readFileSync(join(TINY, name), "utf8"));
  return wrap("tiny", new HuggingFaceTokenizer(read("tokenizer.json"), read("tokenizer_config.json")));
}

/** The library's tokenizer in the project's shape. */
export function wrap(name: string, inner: HuggingFaceTokenizer): Tokenizer {
  const encode = (text: string): number[] => inner.encode(text, { add_special_tokens: false }).ids;
  return {
    name,
    encode,
    decode: (ids) => inner.decode([...ids]),
    count: (text) => encode(text).length,
  };
}
