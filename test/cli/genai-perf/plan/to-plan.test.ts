import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Asked } from "../../../../src/cli/genai-perf/options/asked.ts";
import { nameFolder } from "../../../../src/cli/genai-perf/plan/to-outputs.ts";
import { toProfilePlan } from "../../../../src/cli/genai-perf/plan/to-plan.ts";
import type { LoadPlan } from "../../../../src/plan/load-plan.ts";
import type { PointParameters } from "../../../../src/result/sweep.ts";
import { readGood, readYaml } from "../read.ts";

/** From flags, and from the YAML keys that say the same, to the load of the plan. */

const PAYLOAD = `payload:${fileURLToPath(import.meta.url)}`;
const LINEAR = { search: "linear" } as const;
const list = (value: number) => ({ kind: "list", values: [value] }) as const;
const perfAnalyzer = (stimulus: string): string => `perf_analyzer: {stimulus: ${stimulus}}\n`;

const cases: readonly (readonly [flags: readonly string[], yaml: string, load: LoadPlan])[] = [
  [
    ["--concurrency", "8", "--concurrency-ramp-duration", "2.5"],
    `${perfAnalyzer("{concurrency: 8}")}rampart: {concurrency_ramp: 2.5}`,
    { kind: "concurrency", levels: list(8), ...LINEAR, rampMs: 2500 },
  ],
  [
    ["--concurrency", "8", "--concurrency-ramp-duration", "0"],
    `${perfAnalyzer("{concurrency: 8}")}rampart: {concurrency_ramp: 0}`,
    { kind: "concurrency", levels: list(8), ...LINEAR },
  ],
  [
    ["--request-rate", "5", "--request-rate-ramp-duration", "3", "--concurrency-limit", "7", "--random-seed", "9"],
    `${perfAnalyzer("{request_rate: 5}")}input: {random_seed: 9}\nrampart: {request_rate_ramp: 3, concurrency_limit: 7}`,
    {
      ...{ kind: "request-rate", levels: list(5), ...LINEAR, distribution: "constant", seed: 9, maxOutstanding: 7 },
      ramp: { fromPerSec: 0, overMs: 3000 },
    },
  ],
  [
    ["--request-rate", "5", "--arrival-pattern", "gamma", "--vllm-burstiness", "0.5"],
    `${perfAnalyzer("{request_rate: 5}")}rampart: {request_rate_distribution: gamma, request_rate_smoothness: 0.5}`,
    { kind: "request-rate", levels: list(5), ...LINEAR, distribution: "gamma", seed: 0, smoothness: 0.5 },
  ],
  [
    ["--fixed-schedule", "--input-file", PAYLOAD],
    `${perfAnalyzer("{fixed_schedule: true}")}input: {file: "${PAYLOAD}"}`,
    { kind: "fixed-schedule" },
  ],
  [
    [
      ...["--fixed-schedule", "--input-file", PAYLOAD, "--fixed-schedule-start-offset", "5"],
      ...["--fixed-schedule-end-offset", "60", "--fixed-schedule-speed", "4"],
    ],
    `${perfAnalyzer("{fixed_schedule: true}")}rampart: {schedule_start: 5, schedule_end: 60, schedule_speed: 4}`,
    { kind: "fixed-schedule", part: { startMs: 5, endMs: 60, startsAtFirst: false, speedRatio: 4 } },
  ],
  [
    ["--fixed-schedule", "--input-file", PAYLOAD, "--fixed-schedule-auto-offset"],
    `${perfAnalyzer("{fixed_schedule: true}")}rampart: {schedule_auto_offset: true}`,
    { kind: "fixed-schedule", part: { startMs: null, endMs: null, startsAtFirst: true, speedRatio: 1 } },
  ],
];

for (const [flags, yaml, load] of cases) {
  test(flags.filter((flag) => flag !== PAYLOAD).join(" "), () => {
    const { asked } = readGood("profile", "-m", "tiny", "--endpoint-type", "chat", ...flags);
    assert.deepEqual(toProfilePlan(asked, "", []).load, load);
    const builder = readYaml(`model_name: tiny\n${yaml}\n`);
    assert.deepEqual(builder.problems, []);
    assert.deepEqual(toProfilePlan(new Asked(builder), "", []).load, load);
  });
}

describe("to outputs", () => {
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
});
