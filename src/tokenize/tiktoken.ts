import { encoder } from "../runtime/text.ts";
import { mergePairs } from "./pair-merger.ts";
import type { EncodingName } from "./tiktoken-names.ts";
import { TokenTable } from "./token-table.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { WordCache } from "./word-cache.ts";

/**
 * OpenAI's encodings. Source: `tiktoken` 0.14, `_educational.py` and `openai_public.py`. The ranks come from `js-tiktoken`, whose own
 * encoder is quadratic in the length of a word and recognizes other blanks.
 */

interface RankFile {
  /** Lines of `! FIRST_RANK BASE64 BASE64 …`. */
  readonly bpe_ranks: string;
}

interface Encoding {
  readonly pattern: RegExp;
  readonly special: Readonly<Record<string, number>>;
  readonly load: () => Promise<{ readonly default: RankFile }>;
}

// Case-insensitive matches and `\s` are written out: in JavaScript both match other characters than in tiktoken.
const ANY_CASE_ENDING = "'(?:[sdmtSDMT\u017F]|[lL][lL]|[vV][eE]|[rR][eE])";
const BLANK = "\\p{White_Space}";
const LAST_BLANKS = `${BLANK}+(?!\\P{White_Space})|${BLANK}+`;

const GPT2 = new RegExp(`'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^${BLANK}\\p{L}\\p{N}]+|${LAST_BLANKS}`, "gu");
const CL100K = new RegExp(
  `${ANY_CASE_ENDING}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^${BLANK}\\p{L}\\p{N}]+[\\r\\n]*|${BLANK}+$|${BLANK}*[\\r\\n]+|${LAST_BLANKS}`,
  "gu",
);
const UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
const LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
const O200K = new RegExp(
  [
    `[^\\r\\n\\p{L}\\p{N}]?${UPPER}*${LOWER}+(?:${ANY_CASE_ENDING})?`,
    `[^\\r\\n\\p{L}\\p{N}]?${UPPER}+${LOWER}*(?:${ANY_CASE_ENDING})?`,
    "\\p{N}{1,3}",
    ` ?[^${BLANK}\\p{L}\\p{N}]+[\\r\\n/]*`,
    `${BLANK}*[\\r\\n]+`,
    LAST_BLANKS,
  ].join("|"),
  "gu",
);

const END = "<|endoftext|>";
const FILL = ["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"] as const;

const loadR50k = () => import("js-tiktoken/ranks/r50k_base");
const loadP50k = () => import("js-tiktoken/ranks/p50k_base");
const loadO200k = () => import("js-tiktoken/ranks/o200k_base");

const ENCODINGS: Readonly<Record<EncodingName, Encoding>> = {
  gpt2: { pattern: GPT2, special: { [END]: 50256 }, load: loadR50k },
  r50k_base: { pattern: GPT2, special: { [END]: 50256 }, load: loadR50k },
  p50k_base: { pattern: GPT2, special: { [END]: 50256 }, load: loadP50k },
  p50k_edit: {
    pattern: GPT2,
    special: { [END]: 50256, [FILL[0]]: 50281, [FILL[1]]: 50282, [FILL[2]]: 50283 },
    load: loadP50k,
  },
  cl100k_base: {
    pattern: CL100K,
    special: { [END]: 100257, [FILL[0]]: 100258, [FILL[1]]: 100259, [FILL[2]]: 100260, "<|endofprompt|>": 100276 },
    load: () => import("js-tiktoken/ranks/cl100k_base"),
  },
  o200k_base: {
    pattern: O200K,
    special: { [END]: 199999, "<|endofprompt|>": 200018 },
    load: loadO200k,
  },
  o200k_harmony: {
    pattern: O200K,
    special: makeHarmonyTokens(),
    load: loadO200k,
  },
};

function makeHarmonyTokens(): Record<string, number> {
  const named: Record<string, number> = {
    "<|startoftext|>": 199998,
    [END]: 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
  };
  const taken = new Set(Object.values(named));
  // 200018 has two names. It is decoded to the second one.
  for (let id = 200000; id < 201088; id++) if (!taken.has(id)) named[`<|reserved_${id}|>`] = id;
  return named;
}

/** Loads an encoding and its ranks. Special tokens in a text count as plain text, as in `encode_ordinary`. */
export async function loadEncoding(name: string, encoding: EncodingName): Promise<Tokenizer> {
  const { pattern, special, load } = ENCODINGS[encoding];
  const { default: file } = await load();
  return new TiktokenTokenizer(name, readRanks(file.bpe_ranks), pattern, special);
}

/** Longest token of the encodings, in bytes: 128 blanks. */
const MAX_TOKEN_BYTES = 256;

/** Returns the tokens by rank. */
function readRanks(text: string): TokenTable {
  const tokens = new TokenTable();
  const bytes = Buffer.alloc(MAX_TOKEN_BYTES);
  for (const line of text.split("\n")) {
    if (!line.startsWith("! ")) continue;
    const firstEnd = line.indexOf(" ", 2);
    let rank = Number(line.slice(2, firstEnd));
    // Splitting a line would make a string of each of its 200,000 tokens at once.
    for (let start = firstEnd + 1, end = firstEnd; end < line.length; start = end + 1) {
      end = line.indexOf(" ", start);
      if (end < 0) end = line.length;
      tokens.set(bytes, 0, bytes.write(line.slice(start, end), "base64"), rank++);
    }
  }
  return tokens;
}

class TiktokenTokenizer implements Tokenizer {
  readonly name: string;
  readonly endId: number | undefined;
  private readonly tokens: TokenTable;
  private readonly pattern: RegExp;
  private readonly special: ReadonlyMap<number, string>;
  private readonly words: WordCache;

  constructor(name: string, tokens: TokenTable, pattern: RegExp, special: Readonly<Record<string, number>>) {
    this.name = name;
    this.tokens = tokens;
    this.pattern = pattern;
    this.endId = special[END];
    this.special = new Map(Object.entries(special).map(([text, id]) => [id, text]));
    this.words = new WordCache((word, ids) => this.encodeWord(word, ids));
  }

  encode(text: string): readonly number[] {
    const ids: number[] = [];
    for (const word of text.match(this.pattern) ?? []) this.words.append(word, ids);
    return ids;
  }

  count(text: string): number {
    let count = 0;
    for (const word of text.match(this.pattern) ?? []) count += this.words.count(word);
    return count;
  }

  decode(ids: readonly number[]): string {
    return decoder.decode(Buffer.concat(ids.map((id) => this.bytesOf(id))));
  }

  private bytesOf(id: number): Uint8Array {
    return this.tokens.bytesAt(id) ?? encoder.encode(this.special.get(id) ?? "");
  }

  private encodeWord(word: string, ids: number[]): void {
    const bytes = encoder.encode(word);
    const whole = this.tokens.idAt(bytes, 0, bytes.length);
    if (whole >= 0) {
      ids.push(whole);
      return;
    }
    const symbols = Array.from(bytes, (_, at) => this.tokens.idAt(bytes, at, at + 1));
    const count = mergePairs(symbols, this);
    for (let index = 0; index < count; index++) ids.push(symbols[index] as number);
  }

  /** Rank of a pair: a merge has the rank of the resulting token. */
  rankOf(left: number, right: number): number {
    return this.tokens.idOfPair(left, right);
  }

  /** Token of a rank, which is the rank itself. */
  tokenOf(rank: number): number {
    return rank;
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
