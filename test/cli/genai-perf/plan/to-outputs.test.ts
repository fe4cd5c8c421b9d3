import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { nameFolder } from "../../../../src/cli/genai-perf/plan/to-outputs.ts";
import type { PointParameters } from "../../../../src/result/sweep.ts";
import { readGood } from "../read.ts";

const PAYLOAD = ["--input-file", `payload:${fileURLToPath(import.meta.url)}`];

/** Folders of recorded runs. */
const folders: readonly (readonly [folder: string, flags: readonly string[], point?: PointParameters])[] = [
  ["tiny-openai-chat-concurrency2", ["--concurrency", "2"]],
  ["tiny-openai-completions-request_rate20.0", ["--endpoint-type", "completions", "--request-rate", "20"]],
  ["tiny-openai-chat-request_rate2.5", ["--request-rate", "2.5"]],
  ["tiny-openai-chat-session_concurrency2", ["--session-concurrency", "2", "--num-sessions", "2"]],
  ["tiny-openai-chat-fixed_schedule", ["--fixed-schedule", ...PAYLOAD]],
  ["tiny-openai-chat-request_intervals", ["--", "--request-intervals", "gaps.txt"]],
  ["tiny-openai-chat", PAYLOAD],
  ["tiny_multi-openai-chat-concurrency1", ["-m", "tiny", "tiny2"]],
  ["tiny-openai-chat-input_sequence_length64", [], [["input_sequence_length", 64]]],
  ["meta_llama-triton-tensorrtllm-concurrency1", ["-m", "meta/llama", "--endpoint-type", "kserve"]],
  [
    "engine-tensorrtllm_engine-concurrency1",
    ["-m", "engine", "--endpoint-type", "tensorrtllm_engine", "--", "--model-repository", "m"],
  ],
];

for (const [folder, flags, point] of folders)
  test(`folder ${folder}`, () => {
    const { asked } = readGood("profile", "-m", "tiny", "--endpoint-type", "chat", ...flags);
    assert.equal(nameFolder(asked, point), folder);
  });
