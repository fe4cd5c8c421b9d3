import assert from "node:assert/strict";
import { test } from "node:test";
import { WordCache } from "../../src/tokenize/word-cache.ts";

/** Words that come again are not encoded again. */

/** A cache of a model with one token per character. */
function makeCache(): { readonly cache: WordCache; readonly encoded: string[] } {
  const encoded: string[] = [];
  const cache = new WordCache((word, ids) => {
    encoded.push(word);
    for (const char of word) ids.push(char.charCodeAt(0));
  });
  return { cache, encoded };
}

test("a word is encoded once, whether it is counted or listed", () => {
  const { cache, encoded } = makeCache();
  const ids = [1];
  assert.equal(cache.count("ab"), 2);
  cache.append("ab", ids);
  cache.append("ab", ids);
  assert.deepEqual([ids, cache.count("ab"), encoded], [[1, 97, 98, 97, 98], 2, ["ab"]]);
});

test("long words are encoded each time", () => {
  const { cache, encoded } = makeCache();
  for (const length of [64, 64, 65, 65]) assert.equal(cache.count("a".repeat(length)), length);
  assert.deepEqual(
    encoded.map((word) => word.length),
    [64, 65, 65],
  );
});

test("a full cache is emptied, and words keep their tokens", () => {
  const { cache, encoded } = makeCache();
  for (let word = 0; word < 65_537; word++) cache.count(String(word));
  assert.equal(encoded.length, 65_537);
  assert.equal(cache.count("65536"), 5);
  assert.equal(encoded.length, 65_537);
  assert.equal(cache.count("12"), 2);
  assert.equal(encoded.length, 65_538);
});
