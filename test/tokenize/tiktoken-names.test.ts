import assert from "node:assert/strict";
import { test } from "node:test";
import { ENCODING_NAMES, findEncoding } from "../../src/tokenize/tiktoken-names.ts";

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
