import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createMockTokens } from "../../src/mock/tokens.ts";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import { loadTokenizer } from "../../src/tokenize/load-tokenizer.ts";
import { createFolder } from "../cli/rampart-process.ts";

/** How the mock's language model counts and writes, compared with each tokenizer itself. */

const FIXTURES = join(import.meta.dirname, "../tokenize/fixtures");
const FOLDERS = readdirSync(FIXTURES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const NAMES = [...FOLDERS.map(({ name }) => join(FIXTURES, name)), "o200k_base", "cl100k_base", "gpt2"];

describe("the mock's tokens", () => {
  for (const name of NAMES)
    test(`responses have the exact number of tokens of ${name.slice(FIXTURES.length)}, in pieces of any size`, async () => {
      const [tokens, tokenizer] = [await createMockTokens(name), await loadTokenizer(name)];
      for (const size of [1, 2, 7, 1000])
        for (const count of [1, 2, 3, 10, 31, 128, 500, 2049]) {
          const sizes = Array.from({ length: Math.ceil(count / size) }, (_, at) => Math.min(size, count - at * size));
          const text = sizes.map((piece, at) => tokens.write(piece, at === 0)).join("");
          assert.equal(
            tokenizer.count(text),
            count,
            `${count} in pieces of ${size}: ${JSON.stringify(text.slice(0, 40))}`,
          );
        }
      const body = {
        messages: [{ content: "Why is  the sky blue?" }, { content: [{ text: "One two" }, { text: "3" }] }],
      };
      // Each message is counted by itself.
      const expected = tokenizer.count("Why is  the sky blue?") + tokenizer.count("One two 3");
      // The second count is the cached one.
      for (const _ of [1, 2]) assert.equal(tokens.countPrompt("chat", JSON.stringify(body)), expected);
    });

  test("words are tokens without a tokenizer", async () => {
    const tokens = await createMockTokens("none");
    assert.equal(tokens.write(2, true) + tokens.write(1, false), " the the the");
    assert.equal(tokens.countPrompt("completions", '{"prompt":"a  b"}'), 2);
    assert.equal(tokens.name, "words");
  });

  test("cached counts belong to their body, also when there are too many", async () => {
    const tokens = await createMockTokens(undefined);
    const bodies = [3, 4, 5].map((words) => ({ prompt: `${"x".repeat(4e6)} ${"a ".repeat(words - 1)}` }));
    for (const _ of [1, 2])
      for (const [index, body] of bodies.entries())
        assert.equal(tokens.countPrompt("completions", JSON.stringify(body)), index + 3);
  });

  test("refuses a tokenizer without a word that is one token", async () => {
    using folder = createFolder({ "pairs.json": JSON.stringify(PAIRS) });
    const problems = await createMockTokens(join(folder.path, "pairs.json")).catch((error: UserError) => error);
    assert.ok(problems instanceof UserError);
    assert.match(word(problems.problems[0]?.message ?? ""), /no word of .*pairs\.json is always one token/);
  });
});

/** Knows no word and has no token for unknown ones. */
const PAIRS = { model: { type: "BPE", vocab: {}, merges: [] } };
