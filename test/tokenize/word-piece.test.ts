import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartConfig } from "../../src/tokenize/part-config.ts";
import { createWordLevel, createWordPiece } from "../../src/tokenize/word-piece.ts";

/** WordPiece and whole words give the tokens of Python's tokenizers 0.23.3. */

const VOCAB = { "[UNK]": 0, un: 1, "##aff": 2, "##able": 3, aff: 4, "##a": 5, "\u4F60": 6, "##f": 7, a: 8 };
const PIECES = { type: "WordPiece", vocab: VOCAB, max_input_chars_per_word: 10 };
const WORDS = { type: "WordLevel", vocab: { "[UNK]": 0, cat: 1, "\u0120cat": 2 } };

const pieces: readonly (readonly [config: PartConfig, word: string, ids: readonly number[]])[] = [
  [PIECES, "unaffable", [1, 2, 3]],
  [PIECES, "unaff", [1, 2]],
  [PIECES, "affa", [4, 5]],
  [PIECES, "unx", [0]],
  [PIECES, "x", [0]],
  [PIECES, "\u4F60", [6]],
  [PIECES, "a".repeat(10), [8, 5, 5, 5, 5, 5, 5, 5, 5, 5]],
  [PIECES, "a".repeat(11), [0]],
  [{ ...PIECES, continuing_subword_prefix: "@" }, "unaff", [0]],
  [{ ...PIECES, unk_token: "a" }, "x", [8]],
];
for (const [config, word, ids] of pieces) {
  test(`${word} is cut into ${ids}`, () => {
    const found = [9];
    createWordPiece(config, false).encodeWord(word, found);
    assert.deepEqual(found, [9, ...ids]);
  });
}

const words: readonly (readonly [word: string, leavesBytes: boolean, id: number])[] = [
  ["cat", false, 1],
  ["dog", false, 0],
  ["Cat", false, 0],
  [" cat", false, 0],
  [" cat", true, 2],
];
for (const [word, leavesBytes, id] of words) {
  test(`${word} is the word ${id}${leavesBytes ? " in the alphabet of bytes" : ""}`, () => {
    const found: number[] = [];
    createWordLevel(WORDS, leavesBytes).encodeWord(word, found);
    assert.deepEqual(found, [id]);
  });
}

test("pieces of words that come as plain text are written in the alphabet of bytes", () => {
  const found: number[] = [];
  createWordPiece({ vocab: { "\u0120c": 0, "##at": 1 } }, true).encodeWord(" cat", found);
  assert.deepEqual(found, [0, 1]);
});

for (const [kind, create] of Object.entries({ WordPiece: createWordPiece, WordLevel: createWordLevel })) {
  test(`${kind}: a missing unknown token is refused when it is needed`, () => {
    const model = create({ vocab: { cat: 0 } }, false);
    model.encodeWord("cat", []);
    assert.throws(() => model.encodeWord("dog", []), /the unknown token \[UNK\] is not in the vocabulary/);
  });

  test(`${kind}: a token's text is found by its id`, () => {
    const model = create(WORDS, false);
    assert.deepEqual([model.tokenOf(1), model.tokenOf(9)], ["cat", undefined]);
  });
}
