import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Tokenizer as LibraryTokenizer } from "@huggingface/tokenizers";
import * as fc from "fast-check";
import { readAddedTokens } from "../../src/tokenize/added-tokens.ts";
import { createModel, JsonTokenizer } from "../../src/tokenize/json-tokenizer.ts";
import { type PartConfig, TokenizerFileError } from "../../src/tokenize/part-config.ts";
import { plainText } from "./plain-text.ts";

/** The whole tokenizer; corpus.test.ts compares it with Python's library, for every kind of text. */

/** On plain text HuggingFace's JavaScript library is right for these; for the other fixtures it is not. */
const FAMILIES = [
  "gpt2",
  "llama3",
  "qwen",
  "tiny",
  "clip",
  "bert-cased",
  "bert-uncased",
  "unigram",
  "llama2",
  "llama2-metaspace",
];

function readFixture(name: string): object {
  return JSON.parse(readFileSync(join(import.meta.dirname, "fixtures", name, "tokenizer.json"), "utf8")) as object;
}

for (const name of FAMILIES) {
  test(`${name} gives the tokens of HuggingFace's JavaScript library`, () => {
    const file = readFixture(name);
    const own = new JsonTokenizer(name, file);
    const library = new LibraryTokenizer(file, { clean_up_tokenization_spaces: false });
    fc.assert(
      fc.property(plainText(1), (text) => {
        const { ids } = library.encode(text, { add_special_tokens: false });
        assert.deepEqual(own.encode(text), ids);
        assert.equal(own.count(text), ids.length);
        if (ids.length > 0) assert.equal(own.decode(ids), library.decode(ids));
      }),
      { numRuns: 300 },
    );
  });
}

const WORDS = { type: "WordLevel", vocab: { "[UNK]": 0, a: 1, b: 2, "\u2581": 3 } };
const LETTERS = { type: "Split", pattern: { Regex: "." }, behavior: "Isolated" };

test("normalizer, added tokens, words and decoder work together", () => {
  const tokenizer = new JsonTokenizer("small", {
    normalizer: { type: "Replace", pattern: { String: " " }, content: "\u2581" },
    pre_tokenizer: LETTERS,
    model: WORDS,
    decoder: { type: "Replace", pattern: { String: "\u2581" }, content: " " },
    added_tokens: [{ id: 9, content: "<s>", special: true }],
  });
  assert.deepEqual(tokenizer.encode("a <s>bx"), [1, 3, 9, 2, 0]);
  assert.equal(tokenizer.count("a <s>bx"), 5);
  assert.equal(tokenizer.decode([1, 3, 9, 2, 0, 77]), "a <s>b[UNK]");
});

test("without a decoder tokens are joined by blanks", () => {
  assert.equal(new JsonTokenizer("small", { model: WORDS }).decode([1, 2]), "a b");
});

test("added tokens from elsewhere are known, but those of the file win", () => {
  const extra = readAddedTokens([
    { id: 8, content: "<e>" },
    { id: 9, content: "<old>" },
  ]);
  const tokenizer = new JsonTokenizer("small", { model: WORDS, added_tokens: [{ id: 9, content: "<s>" }] }, extra);
  assert.deepEqual(tokenizer.encode("<e><s>"), [8, 9]);
  assert.equal(tokenizer.decode([8, 9]), "<e> <s>");
});

const refused: readonly (readonly [file: unknown, message: RegExp])[] = [
  [[], /it is not a JSON object/],
  [{}, /it has no model/],
  [{ model: 5 }, /model is not an object/],
  [{ model: WORDS, normalizer: [] }, /normalizer is not an object/],
  [{ model: WORDS, decoder: { type: "Magic" } }, /decoder of type "Magic"/],
  [{ model: WORDS, added_tokens: {} }, /added_tokens is not a list/],
];
for (const [file, message] of refused) {
  test(`${JSON.stringify(file)} is refused`, () => {
    assert.throws(
      () => new JsonTokenizer("bad", file),
      (error: unknown) => error instanceof TokenizerFileError && message.test(error.reason),
    );
  });
}

/** Which model a file describes; old files do not name it. */

const VOCAB = { "[UNK]": 0, a: 1, b: 2, ab: 3, "##b": 4 };

const cases: readonly (readonly [what: string, config: PartConfig, ids: readonly number[]])[] = [
  ["BPE", { type: "BPE", vocab: VOCAB, merges: [] }, [1, 2]],
  ["WordPiece", { type: "WordPiece", vocab: { "[UNK]": 0, a: 1, "##b": 4 } }, [1, 4]],
  ["WordLevel", { type: "WordLevel", vocab: VOCAB }, [3]],
  [
    "Unigram",
    {
      type: "Unigram",
      unk_id: 0,
      vocab: [
        ["<unk>", 0],
        ["a", -1],
        ["b", -1],
      ],
    },
    [1, 2],
  ],
  ["BPE, by its merges", { vocab: VOCAB, merges: ["a b"] }, [3]],
  [
    "Unigram, by its list",
    {
      unk_id: 0,
      vocab: [
        ["<unk>", 0],
        ["ab", -1],
      ],
    },
    [1],
  ],
  ["WordPiece, by its prefix", { vocab: { "[UNK]": 0, a: 1, "##b": 4 }, continuing_subword_prefix: "##" }, [1, 4]],
  ["WordLevel, by its vocabulary alone", { vocab: VOCAB }, [3]],
];
for (const [what, config, ids] of cases) {
  test(what, () => {
    const found: number[] = [];
    createModel(config, false).encodeWord("ab", found);
    assert.deepEqual(found, ids);
  });
}

test("an unknown model is refused with those that are known", () => {
  assert.throws(
    () => createModel({ type: "Neural" }, false),
    (error: unknown) =>
      error instanceof TokenizerFileError &&
      /model of type "Neural" is not supported \(known: BPE, WordPiece, WordLevel, Unigram\)/.test(error.reason),
  );
});
