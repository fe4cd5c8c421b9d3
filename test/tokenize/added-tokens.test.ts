import assert from "node:assert/strict";
import { test } from "node:test";
import { AddedTokenSplitter, readAddedToken, readAddedTokens, type Section } from "../../src/tokenize/added-tokens.ts";
import { TokenizerFileError } from "../../src/tokenize/part-config.ts";

/** Added tokens are found in a text where Python's tokenizers 0.23.3 finds them. */

function token(id: number, content: string, flags: Readonly<Record<string, boolean>> = {}): object {
  return { id, content, special: true, ...flags };
}

const XX = [token(5, "xx", { single_word: true })];

const cases: readonly (readonly [tokens: readonly object[], text: string, sections: readonly Section[]])[] = [
  [[token(5, "<s>")], "a<s>b", ["a", 5, "b"]],
  [[token(5, "<s>")], "<s><s>", [5, 5]],
  [[token(5, "<s>")], "<s", ["<s"]],
  [[], "<s>", ["<s>"]],
  [[token(5, "<s>"), token(6, "")], "", []],
  // The longest at the first place.
  [[token(5, "<s>"), token(6, "<s>>"), token(7, "<")], "a<s>>b", ["a", 6, "b"]],
  [[token(5, "<s>"), token(6, "<s>>"), token(7, "<")], "<s<s>", [7, "s", 5]],
  [[token(5, "<s>", { lstrip: true })], "a  <s> b", ["a", 5, " b"]],
  [[token(5, "<s>", { lstrip: true })], "\u00A0<s>", [5]],
  [[token(5, "<s>", { rstrip: true })], "a <s> \u3000 b", ["a ", 5, "b"]],
  [[token(5, "<s>", { lstrip: true, rstrip: true }), token(6, "<e>")], "<e> <s> <e>", [6, 5, 6]],
  [XX, "xx a", [5, " a"]],
  [XX, "axx", ["axx"]],
  [XX, "xxa", ["xxa"]],
  [XX, "a.xx.b", ["a.", 5, ".b"]],
  [XX, "_xx", ["_xx"]],
  [XX, "xx\u0301", ["xx\u0301"]],
  [XX, "xx\u{1D7D8}", ["xx\u{1D7D8}"]],
  [XX, "xxxx", ["xxxx"]],
  [[token(5, "\u{1F600}")], "a\u{1F600}b\u{1F601}", ["a", 5, "b\u{1F601}"]],
  // The rest of the text comes normalized: here, in lower case.
  [[token(5, "X", { special: false })], "AXbx", ["a", 5, "b", 5]],
  [[token(5, "X", { normalized: false })], "AXbx", ["a", 5, "bx"]],
];
for (const [tokens, text, sections] of cases) {
  test(`${JSON.stringify(tokens)} in ${JSON.stringify(text)}`, () => {
    const splitter = new AddedTokenSplitter(readAddedTokens(tokens), (plain) => plain.toLowerCase());
    assert.deepEqual(splitter.split(text), sections);
  });
}

test("a token that is not special is searched in the normalized text, unless it is configured otherwise", () => {
  const read = (config: object): boolean => readAddedToken({ content: "a", ...config }, 1, "here").isNormalized;
  assert.deepEqual([read({}), read({ special: true }), read({ special: true, normalized: true })], [true, false, true]);
});

test("a file without added tokens has none", () => {
  assert.deepEqual([readAddedTokens(undefined), readAddedTokens(null)], [[], []]);
});

const refused: readonly (readonly [tokens: unknown, message: RegExp])[] = [
  [{}, /added_tokens is not a list of objects/],
  [[5], /added_tokens is not a list of objects/],
  [[{ id: 1 }], /added_tokens\[0\] has no id or no content/],
  [[token(1, "a"), { content: "a" }], /added_tokens\[1\] has no id or no content/],
  [[token(1.5, "a")], /added_tokens\[0\]\.id is 1\.5, expected a whole number/],
  [[token(-1, "a")], /added_tokens\[0\]\.id is -1/],
];
for (const [tokens, message] of refused) {
  test(`${JSON.stringify(tokens)} is refused`, () => {
    assert.throws(
      () => readAddedTokens(tokens),
      (error: unknown) => error instanceof TokenizerFileError && message.test(error.reason),
    );
  });
}
