import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A tokenizer folder with so many entries as today's models have, made of a small one: pairs of its entries become entries of their own.
 * It splits text as the small one does, further merged. Returns `into`.
 */
export function makeLargeTokenizer(small: string, into: string, entryCount: number): string {
  if (existsSync(join(into, "tokenizer.json"))) return into;
  mkdirSync(into, { recursive: true });
  cpSync(small, into, { recursive: true });
  const tokenizer = JSON.parse(readFileSync(join(small, "tokenizer.json"), "utf8")) as {
    model: { vocab: Record<string, number>; merges: (string | [string, string])[] };
  };
  const { vocab, merges } = tokenizer.model;
  const words = Object.keys(vocab).filter((word) => /^\u0120?[a-z]{2,}$/.test(word));
  let next = Object.keys(vocab).length;
  for (const first of words) {
    for (const second of words) {
      if (next >= entryCount) break;
      if (second.startsWith("\u0120") || Object.hasOwn(vocab, first + second)) continue;
      vocab[first + second] = next++;
      merges.push([first, second]);
    }
  }
  if (next < entryCount) throw new Error(`only ${next} entries can be made`);
  // One form of merges for all: files have either.
  tokenizer.model.merges = merges.map((merge) => (typeof merge === "string" ? merge : merge.join(" ")));
  writeFileSync(join(into, "tokenizer.json"), JSON.stringify(tokenizer));
  return into;
}
