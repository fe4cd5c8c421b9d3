import assert from "node:assert/strict";
import { test } from "node:test";
import { type PartConfig, TokenizerFileError } from "../../src/tokenize/part-config.ts";
import { createUnigram } from "../../src/tokenize/unigram.ts";

/** The unigram model gives the tokens of Python's tokenizers 0.23.3. */

const PIECES = [
  ["<unk>", 0],
  ["a", -1],
  ["b", -1],
  ["ab", -1.5],
  ["abc", -4],
  ["c", -1],
  ["\u{1F600}", -1],
  ["<0xC3>", -9],
  ["<0xA9>", -9],
];
const PLAIN = { type: "Unigram", unk_id: 0, vocab: PIECES };
const BYTES = { ...PLAIN, byte_fallback: true };
const RARE = {
  unk_id: 0,
  vocab: [
    ["<unk>", 0],
    ["b", -2],
    ["ab", -3],
    ["a", -2],
    ["xy", -1],
  ],
};

const cases: readonly (readonly [what: string, config: PartConfig, word: string, ids: readonly number[]])[] = [
  ["one token that is likelier than two", PLAIN, "ab", [3]],
  ["two tokens that are likelier than one", PLAIN, "abc", [3, 5]],
  ["the likeliest of several ways", PLAIN, "aab", [1, 3]],
  ["unknown characters in a row are one token", PLAIN, "axyb", [1, 0, 2]],
  ["a character of two UTF-16 units", PLAIN, "\u{1F600}a", [6, 1]],
  ["such a character that is unknown", PLAIN, "x\u{1F601}y", [0]],
  ["bytes", BYTES, "a\u00E9b", [1, 7, 8, 2]],
  ["bytes of several characters", BYTES, "\u00E9\u00E9", [7, 8, 7, 8]],
  ["bytes that the vocabulary lacks", BYTES, "a\u00E8b", [1, 0, 2]],
  ["an unknown character is less likely than a rare token", RARE, "ab", [2]],
  ["a token that only part of the word fits", RARE, "xyx", [4, 0]],
  ["nothing", PLAIN, "", []],
];
for (const [what, config, word, ids] of cases) {
  test(`${what}: ${word}`, () => {
    const found = [9];
    createUnigram(config, false).encodeWord(word, found);
    assert.deepEqual(found, [9, ...ids]);
  });
}

test("words that come as plain text are written in the alphabet of bytes", () => {
  const found: number[] = [];
  createUnigram(
    {
      unk_id: 0,
      vocab: [
        ["<unk>", 0],
        ["\u0120a", -1],
      ],
    },
    true,
  ).encodeWord(" a", found);
  assert.deepEqual(found, [1]);
});

test("a token's text is found by its id", () => {
  const model = createUnigram(PLAIN, false);
  assert.deepEqual([model.tokenOf(4), model.tokenOf(99)], ["abc", undefined]);
});

test("an unknown character without an unknown token is refused when it is met", () => {
  const model = createUnigram({ ...PLAIN, unk_id: null }, false);
  model.encodeWord("ab", []);
  assert.throws(() => model.encodeWord("axb", []), /"axb" has characters that the vocabulary lacks, and no unk_id/);
});

const refused: readonly (readonly [vocab: unknown, message: RegExp])[] = [
  [{}, /model\.vocab is not a list/],
  [[["a", 0], "b"], /model\.vocab\[1\] is not a token with its score/],
  [[["a", "0"]], /model\.vocab\[0\] is not a token with its score/],
];
for (const [vocab, message] of refused) {
  test(`${JSON.stringify(vocab)} is refused`, () => {
    assert.throws(
      () => createUnigram({ vocab }, false),
      (error: unknown) => error instanceof TokenizerFileError && message.test(error.reason),
    );
  });
}
