import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { MergeList } from "../../src/tokenize/pair-merger.ts";
import { parseTokenizerFile } from "../../src/tokenize/tokenizer-file.ts";
import { Vocabulary } from "../../src/tokenize/vocabulary.ts";

/** The reader of `tokenizer.json`, held against `JSON.parse`. */

interface Parsed {
  readonly version?: string;
  readonly model: { readonly type?: string; readonly vocab: unknown; readonly merges: unknown };
}

const parse = (text: string): Parsed => parseTokenizerFile(new TextEncoder().encode(text)) as Parsed;

/** Escapes what JSON lets one write in two ways. */
const escapeAll = (json: string): string =>
  json.replace(/[\u0080-\uFFFF]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((text) => !text.includes(" "));

test("vocabulary and merges are those of JSON.parse, however they are written", () => {
  const file = fc.record({
    words: fc.uniqueArray(word, { minLength: 2, maxLength: 40 }),
    pairs: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 30 }),
    areLists: fc.boolean(),
    isMergesFirst: fc.boolean(),
    indent: fc.constantFrom(0, 2),
    isEscaped: fc.boolean(),
  });
  fc.assert(
    fc.property(file, ({ words, pairs, areLists, isMergesFirst, indent, isEscaped }) => {
      const vocab = Object.fromEntries(words.map((text, id) => [text, id]));
      const texts = pairs.map((pair) => pair.map((one) => words[one % words.length] as string));
      const merges = areLists ? texts : texts.map((pair) => pair.join(" "));
      const model = isMergesFirst ? { type: "BPE", merges, vocab } : { type: "BPE", vocab, merges };
      const plain = JSON.stringify({ version: "1.0", model, post: ["}", '{"model":{}}'] }, undefined, indent);
      const parsed = parse(isEscaped ? escapeAll(plain) : plain);
      assert.ok(parsed.model.vocab instanceof Vocabulary && parsed.model.merges instanceof MergeList);
      const { vocab: vocabulary, merges: list } = parsed.model;
      assert.deepEqual(
        { ...parsed, model: { ...parsed.model, vocab: 0, merges: 0 } },
        {
          ...JSON.parse(plain),
          model: { type: "BPE", vocab: 0, merges: 0 },
        },
      );
      assert.equal(vocabulary.size, words.length);
      for (const [text, id] of Object.entries(vocab)) assert.equal(vocabulary.idOf(text), id);
      assert.deepEqual(
        texts.map((_, rank) => list.pairOf(rank).map((id) => vocabulary.tokenOf(id))),
        texts,
      );
    }),
    { numRuns: 200 },
  );
});

describe("another form is what JSON.parse makes of it", () => {
  const forms: readonly (readonly [what: string, json: string])[] = [
    ["a list of scores", '{"model": {"vocab": [["a", 0.5]], "merges": []}}'],
    ["no merges", '{"model": {"vocab": {"a": 0}}}'],
    ["a negative id", '{"model": {"vocab": {"a": -1}, "merges": []}}'],
    ["an id with a fraction", '{"model": {"vocab": {"a": 1.0}, "merges": []}}'],
    ["an id that is too large", '{"model": {"vocab": {"a": 99999999999}, "merges": []}}'],
    ["a merge of unknown tokens", '{"model": {"vocab": {"a": 0}, "merges": ["a b"]}}'],
    ["a merge without a blank", '{"model": {"vocab": {"a": 0}, "merges": ["a"]}}'],
    ["a merge of one token", '{"model": {"vocab": {"a": 0}, "merges": [["a"]]}}'],
    ["half of a character", '{"model": {"vocab": {"\\ud83d": 0}, "merges": []}}'],
    ["two models", '{"model": {"vocab": {"a": 0}, "merges": []}, "model": 5}'],
    ["no object", "[1]"],
    ["a byte order mark", '\uFEFF{"model": {"vocab": {"a": 0}, "merges": []}}'],
  ];
  for (const [what, json] of forms)
    test(what, () => assert.deepEqual(parse(json), JSON.parse(json.replace(/^\uFEFF/, ""))));
});

describe("text that is no JSON is refused", () => {
  const file = '{"version": "1.0", "model": {"vocab": {"a": 0, "b": 12}, "merges": ["a b", ["a", "b"]]}}';
  for (const text of [
    ...Array.from({ length: file.length }, (_, length) => file.slice(0, length)),
    file.replace("0,", "0,,"),
    file.replace("12", "012"),
    file.replace('"b": 12', '"b" 12'),
    file.replace('"a b"', '"a\n b"'),
    file.replace("1.0", "1.0\u0001"),
    `${file} x`,
  ])
    test(text, () => assert.throws(() => parse(text), SyntaxError));
  test("and the whole file is read", () => assert.ok(parse(file).model.vocab instanceof Vocabulary));
});
