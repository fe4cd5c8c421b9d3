import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PromptWriter } from "../../../src/inputs/prompts/prompt-writer.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { createRandomFor } from "../../../src/runtime/random.ts";
import { countsNothing, everyFewCharacters, unigram, wholeTextBpe, wordPairs, wordPiece } from "../other-tokenizers.ts";
import { loadTinyTokenizer } from "../tiny-tokenizer.ts";

const tiny = loadTinyTokenizer();
const GOLDEN =
  "Their valley softly followed some feather against this fountain, so one foreign doctor together studied that foreign letter past every captain, but his dusty doctor guarded";
const tokenizers = [tiny, wordPiece(), unigram(), wholeTextBpe(), everyFewCharacters(3), wordPairs()];

for (const tokenizer of tokenizers) {
  const writer = new PromptWriter(tokenizer);
  test(`prompts have exactly the tokens asked for: ${tokenizer.name}`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 0 }), (length, seed) => {
        const text = writer.write(length, createRandomFor(seed, "text"));
        assert.equal(tokenizer.count(text), length);
        assert.equal(text, text.trim());
      }),
      { numRuns: 40 },
    );
    for (let length = 1; length <= 40; length++) {
      assert.equal(tokenizer.count(writer.write(length, createRandomFor(length, "short"))), length);
    }
  });

  test(`texts joined by spaces add up, and each has its length alone: ${tokenizer.name}`, () => {
    const lengths = fc.array(fc.integer({ min: 12, max: 300 }), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 0 }), (counts, seed) => {
        const contents: string[] = [];
        for (const [index, count] of counts.entries()) {
          contents.push(writer.write(count, createRandomFor(seed, "text", index), contents.join(" ")));
        }
        const total = counts.reduce((sum, count) => sum + count, 0);
        assert.equal(tokenizer.count(contents.join(" ")), total);
        if (tokenizer !== tiny) return;
        assert.deepEqual(
          contents.map((content) => tokenizer.count(content)),
          counts,
        );
      }),
      { numRuns: 15 },
    );
  });
}

test("the same seed gives the same text, another seed another one", () => {
  const write = (seed: number): string => new PromptWriter(tiny).write(50, createRandomFor(seed, "text"));
  assert.equal(write(42), write(42));
  assert.equal(new Set(Array.from({ length: 200 }, (_, seed) => write(seed).slice(0, 40))).size, 200);
  assert.equal(write(42), GOLDEN);
});

test("a longer text begins like a shorter one", () => {
  const writer = new PromptWriter(tiny);
  const long = writer.write(512, createRandomFor(7, "block"));
  const short = writer.write(200, createRandomFor(7, "block"));
  const shared = [...short].findIndex((character, index) => character !== long[index]);
  assert.ok(shared < 0 || shared > short.length - 40, `they part at ${shared} of ${short.length}`);
});

test("no tokens give no text", () => {
  assert.equal(new PromptWriter(tiny).write(0, createRandomFor(1, "text")), "");
});

test("a length that no text has is an error that names the tokenizer", () => {
  assert.throws(
    () => new PromptWriter(countsNothing()).write(5, createRandomFor(1, "text")),
    (error) => error instanceof UserError && /tokenizer nothing: found no text with 5 tokens/.test(error.message),
  );
});
