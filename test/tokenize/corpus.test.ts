import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { JsonTokenizer } from "../../src/tokenize/json-tokenizer.ts";
import { loadEncoding } from "../../src/tokenize/tiktoken.ts";
import { findEncoding } from "../../src/tokenize/tiktoken-names.ts";
import type { Tokenizer } from "../../src/tokenize/tokenizer.ts";

/** The same tokens as Python's libraries for every text of the corpus; see fixtures/make.py. */

const FIXTURES = join(import.meta.dirname, "fixtures");

interface Expected {
  /** By text, without special tokens. */
  readonly ids: readonly (readonly number[])[];
  /** What these ids decode to. */
  readonly texts: readonly string[];
  /** What every second of these ids decodes to. */
  readonly odd: readonly string[];
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(FIXTURES, path), "utf8"));
}

const corpus = readJson("corpus.json") as readonly string[];
const expected = readJson("expected.json") as Readonly<Record<string, Expected>>;

async function load(name: string): Promise<Tokenizer> {
  const encoding = findEncoding(name);
  if (encoding !== undefined && name.endsWith("k_base")) return loadEncoding(name, encoding);
  return new JsonTokenizer(name, readJson(`${name}/tokenizer.json`));
}

for (const [name, { ids, texts, odd }] of Object.entries(expected)) {
  test(`${name} cuts and joins the corpus as Python does`, async () => {
    const tokenizer = await load(name);
    assert.equal(ids.length, corpus.length);
    for (const [index, text] of corpus.entries()) {
      const own = ids[index] as readonly number[];
      const what = `${index} ${JSON.stringify(text)}`;
      assert.deepEqual(tokenizer.encode(text), own, what);
      assert.equal(tokenizer.count(text), own.length, what);
      assert.equal(tokenizer.decode(own), texts[index], what);
      const half = own.filter((_, place) => place % 2 === 1);
      assert.equal(tokenizer.decode(half), odd[index], what);
    }
  });
}

test("signs newer than the Python library's tables are signs here: a known difference", async () => {
  const tokenizer = await load("bert-cased");
  // U+2E43 came with Unicode 9: Python takes a, sign and b for one word, which is unknown.
  assert.deepEqual(tokenizer.encode("a\u2E43b"), [...tokenizer.encode("a"), 1, ...tokenizer.encode("b")]);
  assert.deepEqual(tokenizer.encode("a\u2E42b"), [...tokenizer.encode("a"), 1, ...tokenizer.encode("b")]);
});

test("half a surrogate pair is counted as the mark that it is sent as", async () => {
  for (const name of Object.keys(expected)) {
    const tokenizer = await load(name);
    const [half, mark] = ["a \uD83D b", "a \uFFFD b"].map((text) => tokenizer.count(text));
    // BERT takes the mark out, but not the half.
    if (!name.startsWith("bert")) assert.equal(half, mark, name);
  }
});

test("an unknown character is less likely than rare tokens around it", () => {
  const vocab = [
    ["<unk>", 0],
    ["bc", -8],
    ["def", -8],
    ["cdef", -1],
  ];
  const tokenizer = new JsonTokenizer("rare", { model: { type: "Unigram", unk_id: 0, vocab } });
  assert.deepEqual(tokenizer.encode("bcdef"), [1, 2]);
  assert.deepEqual(tokenizer.encode("xcdef"), [0, 3]);
});
