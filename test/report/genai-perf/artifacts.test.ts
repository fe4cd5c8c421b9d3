import assert from "node:assert/strict";
import { test } from "node:test";
import { type ArtifactNaming, artifactFiles, artifactFolder } from "../../../src/report/genai-perf/artifacts.ts";

const openai = { models: ["tiny"], serviceKind: "openai", endpointType: "chat" } as const;

/** Folders of recorded runs. */
const folders: readonly (readonly [naming: ArtifactNaming, folder: string])[] = [
  [{ ...openai, stimulus: { kind: "concurrency", value: 2 } }, "tiny-openai-chat-concurrency2"],
  [
    { ...openai, endpointType: "completions", stimulus: { kind: "request_rate", value: 20 } },
    "tiny-openai-completions-request_rate20.0",
  ],
  [{ ...openai, stimulus: { kind: "request_rate", value: 2.5 } }, "tiny-openai-chat-request_rate2.5"],
  [{ ...openai, stimulus: { kind: "session_concurrency", value: 2 } }, "tiny-openai-chat-session_concurrency2"],
  [{ ...openai, stimulus: { kind: "fixed_schedule" } }, "tiny-openai-chat-fixed_schedule"],
  [{ ...openai, stimulus: { kind: "request_intervals" } }, "tiny-openai-chat-request_intervals"],
  [{ ...openai, stimulus: { kind: "none" } }, "tiny-openai-chat"],
  [
    { ...openai, models: ["tiny", "tiny2"], stimulus: { kind: "concurrency", value: 1 } },
    "tiny_multi-openai-chat-concurrency1",
  ],
  [
    { ...openai, stimulus: { kind: "sweep", values: [["input_sequence_length", 64]] } },
    "tiny-openai-chat-input_sequence_length64",
  ],
  [
    {
      models: ["meta/llama"],
      serviceKind: "triton",
      endpointType: "TENSORRTLLM",
      stimulus: { kind: "concurrency", value: 1 },
    },
    "meta_llama-triton-tensorrtllm-concurrency1",
  ],
];

for (const [naming, folder] of folders) {
  test(`folder ${folder}`, () => {
    assert.equal(artifactFolder(naming), folder);
  });
}

test("the export's name renames all files", () => {
  assert.deepEqual(artifactFiles("a", "profile_export.json"), {
    profileExport: "a/profile_export.json",
    genaiPerfJson: "a/profile_export_genai_perf.json",
    genaiPerfCsv: "a/profile_export_genai_perf.csv",
    genaiPerfRampart: "a/profile_export_genai_perf_rampart.json",
    serverMetricsJson: "a/server_metrics_export_genai_perf_rampart.json",
    serverMetricsCsv: "a/server_metrics_export.csv",
    plots: "a/plots",
  });
  assert.equal(artifactFiles("a", "my.run.json").genaiPerfCsv, "a/my.run_genai_perf.csv");
  assert.equal(artifactFiles("a", "b/x").genaiPerfJson, "a/x_genai_perf.json");
  assert.equal(artifactFiles("a", "b/x").profileExport, "a/b/x");
});
