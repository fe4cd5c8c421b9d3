import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { TokenizerFileError } from "../../src/tokenize/part-config.ts";
import { compilePattern, fixedPattern } from "../../src/tokenize/text-pattern.ts";

/** Patterns match what Python's tokenizers 0.23.3, and so Oniguruma, matches. */

const CL100K =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s+";

const matches: readonly (readonly [regex: string, text: string, matches: readonly string[]])[] = [
  [CL100K, "I'LL x'\u017Fa 1234!\n\u0085", ["I", "'LL", " x", "'\u017F", "a", " ", "123", "4", "!\n", "\u0085"]],
  ["'(?i:[sdmt]|ll)|[^\\r\\n\\p{L}]?+\\p{L}+", "don't WE'LL", ["don", "'t", " WE", "'LL"]],
  ["(?i)[a-c]+", "aBd", ["aB"]],
  ["\\s+", "a \u0085\u00A0\uFEFFb", [" \u0085\u00A0"]],
  ["\\S+", "a\u0085b\uFEFF", ["a", "b\uFEFF"]],
  ["\\d+", "1\u0663\u00B2\u00BD\u2460", ["1\u0663"]],
  ["\\w+", "a_\u00E9\u0301\u00B2\u00BD \u2460 \u216B", ["a_\u00E9\u0301\u00B2\u00BD", "\u216B"]],
  ["[\\w]+", "a\u00B2b", ["a", "b"]],
  ["\\W", "a\u00B2-\u2460", ["-", "\u2460"]],
  ["[^\\W]", "a-", ["a"]],
  ["\\\\w", "\\w w", ["\\w"]],
  ["[[:alpha:]]+", "ab1\u00E9", ["ab", "\u00E9"]],
  ["\\p{Han}+", "a\u4F60\u597Db", ["\u4F60\u597D"]],
  ["[\\p{L}&&[^a-c]]+", "abcde", ["de"]],
  ["(?>a+)b", "aab", ["aab"]],
  ["a++b|.", "aac", ["a", "a", "c"]],
  ["^.", "ab\nc", ["a", "c"]],
  ["\\A.", "ab\nc", ["a"]],
  [".", "a\u{1F600}\n", ["a", "\u{1F600}"]],
];
for (const [regex, text, expected] of matches) {
  test(`${regex} in ${JSON.stringify(text)}`, () => {
    const found = Array.from(text.matchAll(compilePattern({ Regex: regex })), ([match]) => match);
    assert.deepEqual(found, expected);
  });
}

test("fixed text matches itself alone, whatever signs it has", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
      assert.deepEqual(`${text}\n${text}`.match(fixedPattern(text)), text === "\n" ? [text, text, text] : [text, text]);
    }),
  );
  assert.deepEqual("a.b".match(compilePattern({ String: "." })), ["."]);
});

const refused: readonly (readonly [pattern: unknown, message: RegExp])[] = [
  [undefined, /neither a String nor a Regex/],
  [{}, /neither a String nor a Regex/],
  [{ Regex: 5 }, /neither a String nor a Regex/],
  [{ Regex: "(" }, /the regular expression \( cannot be used: ./],
  [{ Regex: "\\p{Nonsense}" }, /the regular expression \\p\{Nonsense\} cannot be used: ./],
];
for (const [pattern, message] of refused) {
  test(`${JSON.stringify(pattern)} is refused`, () => {
    assert.throws(
      () => compilePattern(pattern),
      (error: unknown) => error instanceof TokenizerFileError && message.test(error.reason),
    );
  });
}
