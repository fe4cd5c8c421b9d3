import assert from "node:assert/strict";
import { test } from "node:test";
import { createNormalizer } from "../../src/tokenize/normalizers.ts";
import { type PartConfig, TokenizerFileError } from "../../src/tokenize/part-config.ts";

/** Normalizers change a text as Python's tokenizers 0.23.3 does. */

const BERT = { type: "BertNormalizer", clean_text: false, handle_chinese_chars: false, lowercase: false };

const cases: readonly (readonly [config: PartConfig, text: string, normalized: string])[] = [
  [{ type: "NFC" }, "e\u0301", "\u00E9"],
  [{ type: "NFD" }, "\u00E9", "e\u0301"],
  [{ type: "NFKC" }, "\uFB01\u2460", "fi1"],
  [{ type: "NFKD" }, "\u00E9\uFB01", "e\u0301fi"],
  [{ type: "Nmt" }, "a\u0001b\u200Bc\td", "ab c d"],
  [{ type: "Nmt" }, "\u00A0x", "\u00A0x"],
  [{ type: "Lowercase" }, "\u0391\u03A3 \u0130X", "\u03B1\u03C3 i\u0307x"],
  [{ type: "Strip", strip_left: true, strip_right: false }, " \u00A0\u0085a \n", "a \n"],
  [{ type: "Strip", strip_left: false, strip_right: true }, " a\u3000\u0085 ", " a"],
  [{ type: "Strip" }, "\uFEFF a \u200B", "\uFEFF a \u200B"],
  [{ type: "Strip" }, " \n ", ""],
  [{ type: "StripAccents" }, "e\u0301\u0903x", "ex"],
  [{ type: "Replace", pattern: { String: "." }, content: "$&" }, "a.b.c", "a$&b$&c"],
  [{ type: "Replace", pattern: { Regex: "\\s+" }, content: " " }, "a \u0085\n b", "a b"],
  [{ type: "Prepend", prepend: "\u2581" }, "ab", "\u2581ab"],
  [{ type: "Prepend", prepend: "\u2581" }, "", ""],
  [{ type: "ByteLevel" }, "a \u00E9\n", "a\u0120\u00C3\u00A9\u010A"],
  [
    { ...BERT, clean_text: true, handle_chinese_chars: true, lowercase: true, strip_accents: null },
    "A\0\uFFFD\u200DB\u00A0\u4F60\u00C9\u{20BB7}",
    "ab  \u4F60 e \u{20BB7} ",
  ],
  [{ ...BERT, strip_accents: true }, "\u00C9\u4F60\tB", "E\u4F60\tB"],
  [{ ...BERT, strip_accents: null }, "\u00C9", "\u00C9"],
  [{ type: "Precompiled", precompiled_charsmap: "" }, "\uFB01", "\uFB01"],
  [
    { type: "Sequence", normalizers: [{ type: "NFD" }, { type: "StripAccents" }, { type: "Lowercase" }] },
    "\u00C9A",
    "ea",
  ],
];
for (const [config, text, normalized] of cases) {
  test(`${JSON.stringify(config)} of ${JSON.stringify(text)}`, () => {
    assert.equal(createNormalizer(config)(text), normalized);
  });
}

test("an unknown type is refused with those that are known", () => {
  assert.throws(
    () => createNormalizer({ type: "Sequence", normalizers: [{ type: "Magic" }] }),
    (error: unknown) =>
      error instanceof TokenizerFileError && /normalizer of type "Magic" .*BertNormalizer/.test(error.reason),
  );
});
