import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOptions } from "../../../src/cli/perf-analyzer/options/table.ts";
import { readSettings } from "../../../src/cli/perf-analyzer/settings.ts";
import { toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";
import { formatSettings } from "../../../src/report/perf-analyzer/settings-section.ts";
import type { PreparedRun } from "../../../src/result/run-result.ts";

/** Which limits perf_analyzer 2.60.0 prints before the first level. */

const CASES: readonly (readonly [flags: string, limits: readonly string[]])[] = [
  ["", []],
  ["--concurrency-range 4", []],
  ["--concurrency-range 4:1", []],
  ["--concurrency-range 4:4", ["Latency limit: 0 msec", "Concurrency limit: 4 concurrent requests"]],
  ["--request-rate-range 40:40", ["Latency limit: 0 msec", "Request Rate limit: 40 requests per seconds"]],
  ["--binary-search -l 50", []],
  ["--binary-search -l 50 --concurrency-range 1:1", []],
  ["--binary-search -l 50 --request-rate-range 1", []],
  [
    "--binary-search -l 50 --concurrency-range 3:3",
    ["Latency limit: 50 msec", "Concurrency limit: 3 concurrent requests"],
  ],
];

for (const [flags, limits] of CASES)
  test(flags === "" ? "no load at all" : flags, () => {
    const { settings, problems } = readSettings(parseOptions(["-m", "m", ...flags.split(" ").filter(Boolean)]));
    const { plan, problems: conflicts } = toPlan(settings);
    assert.deepEqual([...problems, ...conflicts], []);
    const text = formatSettings({ plan, service: {}, callMode: "sync" } as PreparedRun);
    const lines = text.split("\n").map((line) => line.trim());
    assert.deepEqual(
      lines.filter((line) => line.includes(" limit: ")),
      limits,
    );
    assert.equal(lines.includes("Using Binary Search algorithm"), flags.includes("--binary-search"));
  });
