import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Asked } from "../../../../src/cli/genai-perf/options/asked.ts";
import { toProfilePlan } from "../../../../src/cli/genai-perf/plan/to-plan.ts";
import type { LoadPlan } from "../../../../src/plan/load-plan.ts";
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
