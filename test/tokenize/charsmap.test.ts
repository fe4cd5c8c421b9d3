import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compileCharsmap } from "../../src/tokenize/charsmap.ts";
import { TokenizerFileError } from "../../src/tokenize/part-config.ts";

/** A compiled charsmap replaces what Python's tokenizers 0.23.3 replaces. */

interface Normalizer {
  readonly precompiled_charsmap?: string;
  readonly normalizers?: readonly Normalizer[];
}

const FILE = join(import.meta.dirname, "fixtures", "precompiled", "tokenizer.json");
const { normalizer } = JSON.parse(readFileSync(FILE, "utf8")) as { normalizer: Normalizer };
const charsmap = normalizer.normalizers?.find((part) => part.precompiled_charsmap)?.precompiled_charsmap ?? "";

const cases: readonly (readonly [what: string, text: string, normalized: string])[] = [
  ["nothing", "", ""],
  ["a character that it does not have", "a\u0E33", "a\u0E33"],
  ["a character that becomes two", "\uFB01", "fi"],
  ["a character that becomes another", "\uFF21", "A"],
  ["a grapheme of two characters", "e\u0301", "\u00E9"],
  ["a grapheme too long to be looked up", "\u{1F469}\u200D\u{1F467}", "\u{1F469}\u200D\u{1F467}"],
  ["a character that is taken out", "\u0001a\u200Bb", "\u0001ab"],
];
for (const [what, text, normalized] of cases) {
  test(what, () => {
    const normalize = compileCharsmap(charsmap);
    assert.equal(normalize(text), normalized);
    // The second time from memory.
    assert.equal(normalize(text), normalized);
  });
}

const refused: readonly (readonly [base64: string, message: RegExp])[] = [
  ["???", /not base64/],
  [btoa("abc"), /cut off/],
  [btoa("\u0008\0\0\0ab"), /cut off/],
  [btoa("\u0003\0\0\0abcdef"), /cut off/],
];
for (const [base64, message] of refused) {
  test(`${base64} is refused`, () => {
    assert.throws(
      () => compileCharsmap(base64),
      (error: unknown) => error instanceof TokenizerFileError && message.test(error.reason),
    );
  });
}
