import assert from "node:assert/strict";
import { test } from "node:test";
import { createDecoder } from "../../src/tokenize/decoders.ts";
import { type PartConfig, TokenizerFileError } from "../../src/tokenize/part-config.ts";

/** Decoders join tokens as Python's tokenizers 0.23.3 does. */

const MARK = { type: "Metaspace", replacement: "_" };
const PIECES = { type: "WordPiece", prefix: "##", cleanup: true };

const cases: readonly (readonly [config: PartConfig, tokens: readonly string[], text: string])[] = [
  [{ type: "ByteLevel" }, ["\u0120a", "\u00C3", "\u00A9"], " a\u00E9"],
  [{ type: "ByteLevel" }, ["\u00C3"], "\uFFFD"],
  [{ type: "ByteLevel" }, ["<\u4F60>", "\u0120a"], "<\u4F60> a"],
  [{ type: "ByteFallback" }, ["a", "<0xC3>", "<0xA9>", "b"], "a\u00E9b"],
  [{ type: "ByteFallback" }, ["<0xC3>", "<0xE4>", "x"], "\uFFFD\uFFFDx"],
  [{ type: "ByteFallback" }, ["<0xZZ>", "<0x41>"], "<0xZZ>A"],
  [{ type: "Fuse" }, ["a", "b"], "ab"],
  [{ type: "Replace", pattern: { String: "_" }, content: " " }, ["_a_b", "_"], " a b "],
  [{ type: "Replace", pattern: { String: "a" }, content: "$&" }, ["ba"], "b$&"],
  [{ type: "Strip", content: " ", start: 1, stop: 0 }, ["  a ", " b"], " a b"],
  [{ type: "Strip", content: " ", start: 0, stop: 2 }, ["a   ", "b"], "a b"],
  [{ type: "Strip", content: " ", start: 2, stop: 2 }, [" "], ""],
  [{ ...MARK, prepend_scheme: "always" }, ["_a", "_b"], "a b"],
  [{ ...MARK, prepend_scheme: "always" }, ["__a"], "a"],
  [{ ...MARK, prepend_scheme: "never" }, ["_a", "_b"], " a b"],
  [PIECES, ["a", "##b", "c", "."], "ab c."],
  [PIECES, ["do", "not", "##n't", "'s"], "do notn't's"],
  [PIECES, ["##a", "##b"], "##ab"],
  [{ ...PIECES, cleanup: false }, ["a", "."], "a ."],
  [{ type: "BPEDecoder", suffix: "</w>" }, ["a", "b</w>", "c</w>"], "ab c"],
  [
    {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: "_" }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        { type: "Strip", content: " ", start: 1, stop: 0 },
      ],
    },
    ["_a", "<0xC3>", "<0xA9>"],
    "a\u00E9",
  ],
];
for (const [config, tokens, text] of cases) {
  test(`${JSON.stringify(config)} of ${JSON.stringify(tokens)}`, () => {
    assert.equal(createDecoder(config)(tokens).join(""), text);
  });
}

test("an unknown type is refused", () => {
  assert.throws(
    () => createDecoder({ type: "Magic" }),
    (error: unknown) => error instanceof TokenizerFileError && /decoder of type "Magic"/.test(error.reason),
  );
});
