import assert from "node:assert/strict";
import { test } from "node:test";
import { createModel } from "../../src/tokenize/models.ts";
import { type PartConfig, TokenizerFileError } from "../../src/tokenize/part-config.ts";

/** Which model a file describes; old files do not name it. */

const VOCAB = { "[UNK]": 0, a: 1, b: 2, ab: 3, "##b": 4 };

const cases: readonly (readonly [what: string, config: PartConfig, ids: readonly number[]])[] = [
  ["BPE", { type: "BPE", vocab: VOCAB, merges: [] }, [1, 2]],
  ["WordPiece", { type: "WordPiece", vocab: { "[UNK]": 0, a: 1, "##b": 4 } }, [1, 4]],
  ["WordLevel", { type: "WordLevel", vocab: VOCAB }, [3]],
  [
    "Unigram",
    {
      type: "Unigram",
      unk_id: 0,
      vocab: [
        ["<unk>", 0],
        ["a", -1],
        ["b", -1],
      ],
    },
    [1, 2],
  ],
  ["BPE, by its merges", { vocab: VOCAB, merges: ["a b"] }, [3]],
  [
    "Unigram, by its list",
    {
      unk_id: 0,
      vocab: [
        ["<unk>", 0],
        ["ab", -1],
      ],
    },
    [1],
  ],
  ["WordPiece, by its prefix", { vocab: { "[UNK]": 0, a: 1, "##b": 4 }, continuing_subword_prefix: "##" }, [1, 4]],
  ["WordLevel, by its vocabulary alone", { vocab: VOCAB }, [3]],
];
for (const [what, config, ids] of cases) {
  test(what, () => {
    const found: number[] = [];
    createModel(config, false).encodeWord("ab", found);
    assert.deepEqual(found, ids);
  });
}

test("an unknown model is refused with those that are known", () => {
  assert.throws(
    () => createModel({ type: "Neural" }, false),
    (error: unknown) =>
      error instanceof TokenizerFileError &&
      /model of type "Neural" is not supported \(known: BPE, WordPiece, WordLevel, Unigram\)/.test(error.reason),
  );
});
