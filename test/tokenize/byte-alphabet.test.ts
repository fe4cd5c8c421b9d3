import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { BYTE_CHARS, fromByteChars, toByteChars } from "../../src/tokenize/byte-alphabet.ts";

/** The alphabet of byte-level tokenizers. */

test("each byte has its own printable character", () => {
  assert.equal(new Set(BYTE_CHARS).size, 256);
  for (const [byte, char] of BYTE_CHARS.entries()) {
    assert.match(char, /^[\p{L}\p{N}\p{P}\p{S}]$/u, `byte ${byte}`);
  }
  // Of GPT-2's vocabulary: blank, line feed, delete, soft hyphen.
  assert.deepEqual(
    [0x20, 0x0a, 0x7f, 0xad, 0x41].map((byte) => BYTE_CHARS[byte]).join(""),
    "\u0120\u010A\u0121\u0143A",
  );
});

test("every text comes back from the alphabet", () => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const chars = toByteChars(text);
      assert.equal(chars.length, new TextEncoder().encode(text).length);
      assert.equal(decoder.decode(fromByteChars(chars)), text);
    }),
  );
});

test("a token outside the alphabet represents its own bytes", () => {
  assert.deepEqual(fromByteChars("<\u4F60>"), new TextEncoder().encode("<\u4F60>"));
  assert.deepEqual(fromByteChars("a b"), new TextEncoder().encode("a b"));
});
