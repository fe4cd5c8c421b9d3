import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Tokenizer as LibraryTokenizer } from "@huggingface/tokenizers";
import * as fc from "fast-check";
import { readAddedTokens } from "../../src/tokenize/added-tokens.ts";
import { JsonTokenizer } from "../../src/tokenize/json-tokenizer.ts";
import { TokenizerFileError } from "../../src/tokenize/part-config.ts";
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
