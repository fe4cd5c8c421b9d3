import assert from "node:assert/strict";
import { test } from "node:test";
import {
  canHaveSessions,
  hasMadeUpPrompts,
  isPayloadFile,
  resolveInputFormat,
  sourceOf,
} from "../../../src/cli/genai-perf/input-format.ts";
import type { InputFormat } from "../../../src/inputs/prompts/settings.ts";
import { readBad } from "./read.ts";

/** What an input file holds, by its name and its format. */

const CASES: readonly (readonly [file: string, format: InputFormat, kind: string, holds: string])[] = [
  ["", "auto", "synthetic", "made-up prompts"],
  ["synthetic:queries, passages", "auto", "synthetic", "made-up prompts"],
  ["in.jsonl", "auto", "file", ""],
  ["in.jsonl", "jsonl", "file", ""],
  ["payload:in.jsonl", "auto", "payload", "times sessions"],
  ["in.jsonl", "payload", "payload", "times sessions"],
  ["payload:in.jsonl", "payload", "payload", "times sessions"],
  ["conversations:in.json", "auto", "conversations", "sessions"],
  ["in.json", "sharegpt", "conversations", "sessions"],
  ["in.csv", "auto", "trace", "times"],
  ["trace:in.txt", "auto", "trace", "times"],
  ["in.txt", "azure", "trace", "times"],
  // Contradictions, which are refused.
  ["payload:in.jsonl", "azure", "payload", "times sessions"],
  ["conversations:in.json", "jsonl", "conversations", "sessions"],
];

for (const [file, format, kind, holds] of CASES)
  test(`${file === "" ? "no file" : file}, ${format}: ${kind}`, () => {
    const input = { file, format };
    assert.equal(sourceOf(input).kind, kind);
    const found = [
      ...(hasMadeUpPrompts(input) ? ["made-up prompts"] : []),
      ...(isPayloadFile(input) ? ["times"] : []),
      ...(canHaveSessions(input) ? ["sessions"] : []),
    ];
    assert.equal(found.join(" "), holds);
  });

test("a word before the colon says what the file holds, so that it is not opened for that", async () => {
  for (const file of ["synthetic:a", "payload:none", "conversations:none", "trace:none"])
    assert.equal(await resolveInputFormat({ file, format: "auto" }), "auto");
});

test("a word before the colon and another format are refused", () => {
  const file = `trace:${import.meta.filename}`;
  assert.deepEqual(readBad("profile", "-m", "a", "--input-file", file, "--input-format", "azure"), [
    `--input-format azure contradicts --input-file ${file}`,
  ]);
});
