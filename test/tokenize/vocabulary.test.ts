import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenizerFileError } from "../../src/tokenize/part-config.ts";
import { readVocabulary, Vocabulary } from "../../src/tokenize/vocabulary.ts";

/** A model's tokens and their ids. */

test("ids and tokens are found both ways, also names that objects inherit", () => {
  const vocabulary = readVocabulary({ a: 0, constructor: 7 });
  assert.equal(vocabulary.size, 2);
  assert.deepEqual(
    [vocabulary.idOf("a"), vocabulary.idOf("constructor"), vocabulary.idOf("toString")],
    [0, 7, undefined],
  );
  assert.deepEqual(
    [vocabulary.tokenOf(7), vocabulary.tokenOf(1), vocabulary.tokenOf(-1)],
    ["constructor", undefined, undefined],
  );
});

const bytes: readonly (readonly [text: string, ids: readonly number[] | undefined])[] = [
  ["", []],
  ["\n", [1]],
  ["\u00E9\n", [2, 3, 1]],
  ["\u00E8", undefined],
  ["a", undefined],
];
for (const [text, ids] of bytes) {
  test(`the bytes of ${JSON.stringify(text)} are ${ids ?? "missing"}`, () => {
    const vocabulary = Vocabulary.of([
      ["<0x0A>", 1],
      ["<0xC3>", 2],
      ["<0xA9>", 3],
      ["<0x0a>", 9],
    ]);
    assert.deepEqual(vocabulary.bytesOf(text), ids);
  });
}

const refused: readonly (readonly [vocab: unknown, message: RegExp])[] = [
  [undefined, /model\.vocab is not an object/],
  [[], /model\.vocab is not an object/],
  [{ a: "1" }, /model\.vocab\["a"\] is not a token id/],
  [{ a: -1 }, /model\.vocab\["a"\] is not a token id/],
  [{ a: 1, b: 0.5 }, /model\.vocab\["b"\] is not a token id/],
];
for (const [vocab, message] of refused) {
  test(`${JSON.stringify(vocab)} is refused`, () => {
    assert.throws(
      () => readVocabulary(vocab),
      (error: unknown) => error instanceof TokenizerFileError && message.test(error.reason),
    );
  });
}
