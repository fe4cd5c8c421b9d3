import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import type { Tokenizer } from "../../src/tokenize/tokenizer.ts";
import { wrap } from "./tiny-tokenizer.ts";

/** Small tokenizers of every family, and hostile ones whose counts do not add up. */

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
const MARKS = [...".,;!?:0123456789"];
const WORDS = "the a of and in to it garden river lantern moun tain vill age re paint ed walk".split(" ");

function addedToken(id: number, content: string): object {
  return { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
}

/** As BERT's: lower-cased, words split into pieces marked with ##. */
export function wordPiece(): Tokenizer {
  const pieces = ["[UNK]", ...MARKS, ...LETTERS, ...LETTERS.map((letter) => `##${letter}`)];
  const vocab = [...new Set([...pieces, ...WORDS, ...WORDS.map((word) => `##${word}`)])];
  return build("word piece", {
    added_tokens: [addedToken(0, "[UNK]")],
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocab.map((piece, id) => [piece, id])),
    },
  });
}

/** As SentencePiece's: pieces with scores, spaces written as ▁. */
export function unigram(): Tokenizer {
  const letters = [...LETTERS, ...LETTERS.map((letter) => letter.toUpperCase()), ...MARKS, "▁"];
  const vocab = [
    ["<unk>", 0],
    ...letters.map((letter) => [letter, -8]),
    ...WORDS.filter((word) => word.length > 1).map((word) => [word, -7]),
    ...WORDS.map((word) => [`▁${word}`, -5]),
  ];
  return build("unigram", {
    added_tokens: [addedToken(0, "<unk>")],
    normalizer: null,
    pre_tokenizer: { type: "Metaspace", replacement: "▁", add_prefix_space: true, prepend_scheme: "always" },
    decoder: { type: "Metaspace", replacement: "▁", add_prefix_space: true, prepend_scheme: "always" },
    model: { type: "Unigram", unk_id: 0, vocab },
  });
}

/** As Llama 2's: byte-pair merges over the whole text, without splitting it into words first. */
export function wholeTextBpe(): Tokenizer {
  const letters = [...LETTERS, ...LETTERS.map((letter) => letter.toUpperCase()), ...MARKS, "▁"];
  const merges = ["▁ t", "h e", "▁t he", "▁ a", "e ▁", "i n", "e r", "▁ w", "o n", "d ▁", "a n"];
  const tokens = ["<unk>", ...letters, ...merges.map((merge) => merge.replace(" ", ""))];
  return build("whole-text bpe", {
    added_tokens: [addedToken(0, "<unk>")],
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "Prepend", prepend: "▁" },
        { type: "Replace", pattern: { String: " " }, content: "▁" },
      ],
    },
    pre_tokenizer: null,
    decoder: { type: "Replace", pattern: { String: "▁" }, content: " " },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: "<unk>",
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries([...new Set(tokens)].map((token, id) => [token, id])),
      merges,
    },
  });
}

function build(name: string, parts: object): Tokenizer {
  return wrap(
    name,
    new HuggingFaceTokenizer({ version: "1.0", truncation: null, padding: null, post_processor: null, ...parts }, {}),
  );
}

/** One token for every `size` characters, whatever they are: a word's count depends on all that stands before it. */
export function everyFewCharacters(size: number): Tokenizer {
  return counting(`${size} characters a token`, (text) => Math.ceil(text.length / size));
}

/** One token for every two words. */
export function wordPairs(): Tokenizer {
  return counting("word pairs", (text) => Math.ceil(text.split(/\s+/).filter((word) => word !== "").length / 2));
}

/** Counts nothing at all. */
export function countsNothing(): Tokenizer {
  return counting("nothing", () => 0);
}

function counting(name: string, count: (text: string) => number): Tokenizer {
  return { name, count, encode: (text) => Array.from({ length: count(text) }, (_, id) => id), decode: () => "" };
}
