import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Tiktoken } from "js-tiktoken/lite";
import { loadEncoding } from "../../src/tokenize/tiktoken.ts";
import { ENCODING_NAMES, findEncoding } from "../../src/tokenize/tiktoken-names.ts";
import { plainText } from "./plain-text.ts";

/** OpenAI's encodings; corpus.test.ts compares them with Python's `tiktoken`. */

test("special tokens of encodings are decoded, and are plain text in texts", async () => {
  for (const [name, id, text] of [
    ["p50k_edit", 50282, "<|fim_middle|>"],
    ["cl100k_base", 100276, "<|endofprompt|>"],
    ["o200k_harmony", 200008, "<|message|>"],
    ["o200k_harmony", 201087, "<|reserved_201087|>"],
  ] as const) {
    const tokenizer = await loadEncoding(name, name);
    assert.equal(tokenizer.decode([id]), text);
    assert.ok(tokenizer.count(text) > 1);
    assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
  }
});

for (const name of ["r50k_base", "cl100k_base"] as const) {
  test(`${name} gives the tokens of js-tiktoken's own encoder`, async () => {
    const own = await loadEncoding("mine", name);
    assert.equal(own.name, "mine");
    const { default: ranks } = await import(`js-tiktoken/ranks/${name}`);
    const other = new Tiktoken(ranks);
    fc.assert(
      fc.property(plainText(), (text) => {
        const ids = other.encode(text, [], []);
        assert.deepEqual(own.encode(text), ids);
        assert.equal(own.count(text), ids.length);
        assert.equal(own.decode(ids), text);
      }),
      { numRuns: 300 },
    );
  });
}

test("a long word takes no quadratic time, and ids outside the vocabulary have no text", async () => {
  const tokenizer = await loadEncoding("gpt2", "gpt2");
  const word = "ab".repeat(50_000);
  assert.equal(tokenizer.decode([...tokenizer.encode(word), 4_000_000, -1]), word);
});

/** Which encoding a name means. */

const encodings: readonly (readonly [name: string, encoding: string | undefined])[] = [
  ["o200k_base", "o200k_base"],
  ["o200k_harmony", "o200k_harmony"],
  ["gpt2", "gpt2"],
  ["gpt-4o", "o200k_base"],
  ["gpt-4o-mini", "o200k_base"],
  ["gpt-4", "cl100k_base"],
  ["gpt-4-0613", "cl100k_base"],
  ["gpt-4.1-nano", "o200k_base"],
  ["gpt-5.1", "o200k_base"],
  ["gpt-oss-20b", "o200k_harmony"],
  ["gpt-3.5-turbo-0125", "cl100k_base"],
  ["ft:gpt-4o:mine", "o200k_base"],
  ["ft:gpt-4:mine", "cl100k_base"],
  ["o3-mini", "o200k_base"],
  ["davinci-002", "cl100k_base"],
  ["davinci", "r50k_base"],
  ["text-davinci-003", "p50k_base"],
  ["text-davinci-edit-001", "p50k_edit"],
  ["text-embedding-3-small", "cl100k_base"],
  ["gpt", undefined],
  ["org/gpt-4", undefined],
  ["none", undefined],
];
for (const [name, encoding] of encodings) {
  test(`${name} means ${encoding ?? "no encoding"}`, () => assert.equal(findEncoding(name), encoding));
}

test("each encoding has its own name", () => {
  for (const name of ENCODING_NAMES) assert.equal(findEncoding(name), name);
});
