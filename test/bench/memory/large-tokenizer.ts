import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../../src/runtime/random.ts";
import { tinyTokenizer } from "../../servers/tiny-llama.ts";
import { benchFolder } from "../clients.ts";

/** As many as a Llama 3 has. */
const TOKENS = 128_000;
const LONGEST_TOKEN = 14;

interface TokenizerFile {
  readonly model: { readonly vocab: Record<string, number>; readonly merges: string[] };
}

/** Writes the tests' tokenizer with as many more tokens as those of usual models. Returns its folder. */
export function writeLargeTokenizer(): string {
  const folder = join(benchFolder, "large-tokenizer");
  mkdirSync(folder, { recursive: true });
  const read = (name: string): string => readFileSync(join(tinyTokenizer, name), "utf8");
  const file = JSON.parse(read("tokenizer.json")) as TokenizerFile;
  const { vocab, merges } = file.model;
  const random = createRandom(1);
  const tokens = Object.keys(vocab).filter((token) => /^\u0120?[a-z]+$/.test(token));
  const draw = (): string => tokens[Math.floor(random() * tokens.length)] as string;
  for (let count = Object.keys(vocab).length; count < TOKENS; ) {
    const [left, right] = [draw(), draw()];
    const token = left + right;
    if (right.startsWith("\u0120") || token.length > LONGEST_TOKEN || token in vocab) continue;
    vocab[token] = count++;
    merges.push(`${left} ${right}`);
    tokens.push(token);
  }
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(file));
  writeFileSync(join(folder, "tokenizer_config.json"), read("tokenizer_config.json"));
  return folder;
}
