import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createBpe } from "../../src/tokenize/bpe.ts";
import { BYTE_CHARS, fromByteChars, toByteChars } from "../../src/tokenize/byte-alphabet.ts";
import { MergeList } from "../../src/tokenize/pair-merger.ts";
import { type PartConfig, TokenizerFileError } from "../../src/tokenize/part-config.ts";

/** Byte-pair encoding gives the tokens of Python's tokenizers 0.23.3. */

const VOCAB = { "[UNK]": 0, a: 1, b: 2, c: 3, ab: 4, abc: 5, "<0xC3>": 6, "<0xA9>": 7 };
const PLAIN = { type: "BPE", vocab: VOCAB, merges: ["a b", "ab c"] };
const UNKNOWN = { ...PLAIN, unk_token: "[UNK]" };
const BYTES = { ...UNKNOWN, byte_fallback: true };
const WHOLE = { ...PLAIN, merges: ["a b"], ignore_merges: true };
const PREFIX = {
  vocab: { a: 0, b: 1, "##b": 2, ab: 3, "##a": 4 },
  merges: ["a ##b"],
  continuing_subword_prefix: "##",
};
const SUFFIX = {
  vocab: { a: 0, b: 1, "b</w>": 2, "ab</w>": 3, "a</w>": 4 },
  merges: ["a b</w>"],
  end_of_word_suffix: "</w>",
};

const cases: readonly (readonly [what: string, config: PartConfig, word: string, ids: readonly number[]])[] = [
  ["merges by rank", PLAIN, "abc", [5]],
  ["merges by rank", PLAIN, "abab", [4, 4]],
  ["merges by rank", PLAIN, "cab", [3, 4]],
  [
    "merges as pairs",
    {
      ...PLAIN,
      merges: [
        ["a", "b"],
        ["ab", "c"],
      ],
    },
    "abc",
    [5],
  ],
  ["no unknown token: the character is left out before the merging", PLAIN, "axb", [4]],
  ["an unknown token", UNKNOWN, "axyb", [1, 0, 0, 2]],
  ["unknown tokens in a row as one", { ...UNKNOWN, fuse_unk: true }, "axyb", [1, 0, 2]],
  ["bytes", BYTES, "a\u00E9b", [1, 6, 7, 2]],
  ["bytes that the vocabulary lacks", BYTES, "a\u00E8b", [1, 0, 2]],
  ["an unknown token after bytes that follow it", BYTES, "x\u00E9", [6, 7, 0]],
  ["a whole word that the merges do not make", WHOLE, "abc", [5]],
  ["a whole word that the merges do not make", WHOLE, "abca", [4, 3, 1]],
  ["merges although the whole word is a token", { ...WHOLE, ignore_merges: false }, "abc", [4, 3]],
  ["a prefix of what continues a word", PREFIX, "ab", [3]],
  ["a prefix of what continues a word", PREFIX, "ba", [1, 4]],
  ["a prefix of what continues a word", PREFIX, "aba", [3, 4]],
  ["a suffix at the word's end", SUFFIX, "ab", [3]],
  ["a suffix at the word's end", SUFFIX, "ba", [1, 4]],
  ["a suffix at the word's end", SUFFIX, "aab", [0, 3]],
];
for (const [what, config, word, ids] of cases) {
  test(`${what}: ${word}`, () => {
    const found = [9];
    createBpe(config, false).encodeWord(word, found);
    assert.deepEqual(found, [9, ...ids]);
  });
}

test("words that come as plain text are written in the alphabet of bytes", () => {
  const alphabet = Object.fromEntries(BYTE_CHARS.map((char, byte) => [char, byte]));
  const vocab = { ...alphabet, "\u00C3\u00A9": 256, "\u0120\u00C3\u00A9": 257 };
  const merges = ["\u00C3 \u00A9", "\u0120 \u00C3\u00A9"];
  for (const [given, ids] of [
    [{ vocab, merges }, [257, 0xc3, 0xa8]],
    // A suffix, and a word that is a token as it stands.
    [{ vocab, merges, end_of_word_suffix: "!" }, [257, 0xc3]],
    [{ vocab, merges: [], ignore_merges: true }, [0x20, 0xc3, 0xa9, 0xc3, 0xa8]],
  ] as const) {
    const found: number[] = [];
    createBpe(given, true).encodeWord(" \u00E9\u00E8", found);
    assert.deepEqual(found, ids);
  }
  const whole: number[] = [];
  createBpe({ vocab, merges: [], ignore_merges: true }, true).encodeWord(" \u00E9", whole);
  assert.deepEqual(whole, [257]);
});

test("a token's text is found by its id", () => {
  const model = createBpe(PLAIN, false);
  assert.deepEqual([model.tokenOf(5), model.tokenOf(99), model.tokenOf(-1)], ["abc", undefined, undefined]);
});

const refused: readonly (readonly [config: PartConfig, message: RegExp])[] = [
  [{ vocab: VOCAB }, /model\.merges is not a list/],
  [{ vocab: [], merges: [] }, /model\.vocab is not an object/],
  [{ vocab: VOCAB, merges: ["a x"] }, /model\.merges\[0\] \("a x"\) /],
  [{ vocab: VOCAB, merges: ["a b", 5] }, /model\.merges\[1\] \(5\) /],
];
for (const [config, message] of refused) {
  test(`${JSON.stringify(config)} is refused`, () => {
    assert.throws(
      () => createBpe(config, false),
      (error: unknown) => error instanceof TokenizerFileError && message.test(error.reason),
    );
  });
}

test("a merge whose token is missing is refused when a word needs it", () => {
  const model = createBpe({ vocab: VOCAB, merges: ["b c"] }, false);
  model.encodeWord("ab", []);
  assert.throws(() => model.encodeWord("bc", []), /the result of model\.merges\[0\] \(b c\) is not in the vocabulary/);
});

/** The list of merges. */

test("a list of merges separates many pairs, and a later rank replaces an earlier one", () => {
  const merges = new MergeList();
  for (let index = 0; index < 30_000; index++) merges.add(index % 173, Math.floor(index / 173));
  merges.add(5, 7);
  for (let index = 0; index < 30_000; index++) {
    const expected = index === 5 + 7 * 173 ? 30_000 : index;
    assert.equal(merges.rankOf(index % 173, Math.floor(index / 173)), expected);
  }
  assert.equal(merges.rankOf(173, 0), -1);
  assert.deepEqual([merges.length, merges.pairOf(30_000), merges.pairOf(174)], [30_001, [5, 7], [1, 1]]);
});

test("a pair is not its reverse, and 0 is a rank", () => {
  const merges = new MergeList();
  merges.add(0, 1);
  assert.deepEqual([merges.rankOf(0, 1), merges.rankOf(1, 0), merges.rankOf(0, 0)], [0, -1, -1]);
});

/** The alphabet of byte-level tokenizers. */

test("each byte has its own printable character", () => {
  assert.equal(new Set(BYTE_CHARS).size, 256);
  for (const [byte, char] of BYTE_CHARS.entries()) {
    assert.match(char, /^[\p{L}\p{N}\p{P}\p{S}]$/u, `byte ${byte}`);
  }
  // Of GPT-2's vocabulary: blank, line feed, delete, soft hyphen.
  assert.deepEqual(
    [0x20, 0x0a, 0x7f, 0xad, 0x41].map((byte) => BYTE_CHARS[byte]).join(""),
    "\u0120\u010A\u0121\u0143A",
  );
});

test("every text comes back from the alphabet", () => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const chars = toByteChars(text);
      assert.equal(chars.length, new TextEncoder().encode(text).length);
      assert.equal(decoder.decode(fromByteChars(chars)), text);
    }),
  );
});

test("a token outside the alphabet represents its own bytes", () => {
  assert.deepEqual(fromByteChars("<\u4F60>"), new TextEncoder().encode("<\u4F60>"));
  assert.deepEqual(fromByteChars("a b"), new TextEncoder().encode("a b"));
});
