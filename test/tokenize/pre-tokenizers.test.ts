import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { type PartConfig, TokenizerFileError } from "../../src/tokenize/part-config.ts";
import { createPreTokenizer } from "../../src/tokenize/pre-tokenizers.ts";

/** Pre-tokenizers cut a text as Python's tokenizers 0.23.3 does. */

const BYTES = { type: "ByteLevel", add_prefix_space: false, use_regex: true };
const DASH = { type: "Split", pattern: { String: "-" }, invert: false };
const LETTERS = { type: "Split", pattern: { Regex: "[a-z]+" }, invert: true };
const SIGNS = { type: "Punctuation" };
const MARK = { type: "Metaspace", replacement: "_", split: true };

const cases: readonly (readonly [config: PartConfig, text: string, words: readonly string[]])[] = [
  [{ ...DASH, behavior: "Removed" }, "a--b-c-", ["a", "b", "c"]],
  [{ ...DASH, behavior: "Isolated" }, "a--b-c-", ["a", "-", "-", "b", "-", "c", "-"]],
  [{ ...DASH, behavior: "MergedWithPrevious" }, "a--b-c-", ["a-", "-", "b-", "c-"]],
  [{ ...DASH, behavior: "MergedWithNext" }, "a--b-c-", ["a", "-", "-b", "-c", "-"]],
  [{ ...DASH, behavior: "Contiguous" }, "a--b-c-", ["a", "--", "b", "-", "c", "-"]],
  [{ ...LETTERS, behavior: "Removed" }, "a--b-c-", ["a", "b", "c"]],
  [{ ...LETTERS, behavior: "Isolated" }, "a--b-c-", ["a", "--", "b", "-", "c", "-"]],
  [{ ...LETTERS, behavior: "MergedWithPrevious" }, "a--b-c-", ["a--", "b-", "c-"]],
  [{ ...LETTERS, behavior: "MergedWithNext" }, "a--b-c-", ["a", "--b", "-c", "-"]],
  [{ ...LETTERS, behavior: "Contiguous" }, "a--b-c-", ["a", "--", "b", "-", "c", "-"]],
  // Matches of nothing, before a character of two UTF-16 units, too.
  [{ type: "Split", pattern: { Regex: "x*" }, behavior: "Isolated" }, "axx\u{1F600}b", ["a", "xx", "\u{1F600}", "b"]],
  [{ type: "Whitespace" }, "a_b, c\u0301d  \u0663x\u00A0!?", ["a_b", ",", "c\u0301d", "\u0663x", "!?"]],
  [{ type: "WhitespaceSplit" }, " a,b\u0085c\u3000d ", ["a,b", "c", "d"]],
  [{ type: "BertPreTokenizer" }, "a,b!! \u3002c$d", ["a", ",", "b", "!", "!", "\u3002", "c", "$", "d"]],
  [{ ...SIGNS, behavior: "Removed" }, "a.,b!c", ["a", "b", "c"]],
  [{ ...SIGNS, behavior: "Isolated" }, "a.,b!c", ["a", ".", ",", "b", "!", "c"]],
  [{ ...SIGNS, behavior: "MergedWithPrevious" }, "a.,b!c", ["a.", ",", "b!", "c"]],
  [{ ...SIGNS, behavior: "MergedWithNext" }, "a.,b!c", ["a", ".", ",b", "!c"]],
  [{ ...SIGNS, behavior: "Contiguous" }, "a.,b!c", ["a", ".,", "b", "!", "c"]],
  [{ type: "Digits", individual_digits: true }, "a12\u00BDb", ["a", "1", "2", "\u00BD", "b"]],
  [{ type: "Digits", individual_digits: false }, "a12\u0663b3", ["a", "12\u0663", "b", "3"]],
  [{ type: "CharDelimiterSplit", delimiter: "-" }, "a--b-c", ["a", "b", "c"]],
  [{ type: "FixedLength", length: 2 }, "ab\u{1F600}de", ["ab", "\u{1F600}d", "e"]],
  [{ ...MARK, prepend_scheme: "always" }, "a b  c", ["_a", "_b", "_", "_c"]],
  [{ ...MARK, prepend_scheme: "always" }, " a", ["_a"]],
  [{ ...MARK, prepend_scheme: "never" }, "a b", ["a", "_b"]],
  [{ ...MARK, prepend_scheme: "first", split: false }, "a b", ["_a_b"]],
  [{ ...MARK, add_prefix_space: false }, "a b", ["a", "_b"]],
  [
    { type: "Sequence", pretokenizers: [{ type: "WhitespaceSplit" }, { type: "Punctuation", behavior: "Isolated" }] },
    "a,b c",
    ["a", ",", "b", "c"],
  ],
];
describe("words", () => {
  for (const [config, text, words] of cases) {
    test(`${JSON.stringify(config)} of ${JSON.stringify(text)}`, () => {
      const { cut, leavesBytes } = createPreTokenizer(config);
      assert.deepEqual(cut(text, true), words);
      assert.equal(leavesBytes, false);
    });
  }
});

test("a byte level at the end leaves the bytes to the model; one before others writes them", () => {
  const last = createPreTokenizer(BYTES);
  assert.deepEqual(last.cut("a b'll  c\u00E9\n12", true), ["a", " b", "'ll", " ", " c\u00E9", "\n", "12"]);
  assert.equal(last.leavesBytes, true);
  const first = createPreTokenizer({ type: "Sequence", pretokenizers: [BYTES, { type: "Punctuation" }] });
  assert.deepEqual(first.cut("a b!\u00E9", true), ["a", "\u0120b", "!", "\u00C3\u00A9"]);
  assert.equal(first.leavesBytes, false);
  const spaced = createPreTokenizer({ ...BYTES, add_prefix_space: true });
  assert.deepEqual([spaced.cut("a b", true), spaced.cut(" a", true)], [[" a", " b"], [" a"]]);
  assert.deepEqual(createPreTokenizer({ ...BYTES, use_regex: false }).cut("a b c", true), ["a b c"]);
});

test("a scheme of `first` marks the beginning of the text alone", () => {
  const { cut } = createPreTokenizer({ ...MARK, prepend_scheme: "first" });
  assert.deepEqual([cut("a", true), cut("a", false)], [["_a"], ["a"]]);
});

test("without a pre-tokenizer the text is one word", () => {
  assert.deepEqual(createPreTokenizer(undefined).cut("a b", true), ["a b"]);
});

test("isolated parts add up to the text", () => {
  const regexes = fc.constantFrom("x*", "\\s+", "[a-z]+|\\d", ".", "(?=b)", "$");
  fc.assert(
    fc.property(regexes, fc.string({ unit: "grapheme" }), (regex, text) => {
      const { cut } = createPreTokenizer({ type: "Split", pattern: { Regex: regex }, behavior: "Isolated" });
      const words = cut(text, true);
      assert.equal(words.join(""), text);
      assert.ok(!words.includes(""));
    }),
  );
});

const refused: readonly (readonly [config: PartConfig, message: RegExp])[] = [
  [{ type: "Magic" }, /pre-tokenizer of type "Magic" is not supported/],
  [{ type: "Punctuation", behavior: "Sideways" }, /the behavior "sideways" is not known/],
  [{ type: "Sequence", pretokenizers: 5 }, /pretokenizers is not a list of objects/],
];
for (const [config, message] of refused) {
  test(`${JSON.stringify(config)} is refused`, () => {
    assert.throws(
      () => createPreTokenizer(config),
      (error: unknown) => error instanceof TokenizerFileError && message.test(error.reason),
    );
  });
}
