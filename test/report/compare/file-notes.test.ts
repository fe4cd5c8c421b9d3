import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { compareRuns } from "../../../src/report/compare/compare-runs.ts";
import type { Comparison } from "../../../src/report/compare/comparison.ts";
import { toComparisonJson } from "../../../src/report/compare/json.ts";
import type { ComparedSides } from "../../../src/report/compare/limits.ts";
import { buildComparisonModel } from "../../../src/report/compare/model.ts";
import { formatPage } from "../../../src/report/html/report-page.ts";
import { formatMarkdownReport } from "../../../src/report/markdown.ts";
import { readRuns } from "../../../src/report/read/runs/read-runs.ts";
import { renderText } from "../../../src/report/text/render-text.ts";
import { makeMeasuredLevel, makeMeasuredRun } from "./make-runs.ts";

/** What is said about files of GenAI-Perf and perf_analyzer, which are real ones, shortened. */

const FIXTURES = join(import.meta.dirname, "../read/runs/fixtures");
const read = (name: string, count = 1) => ({
  name,
  runs: Array.from({ length: count }, () => readRuns(join(FIXTURES, name))).flat(),
});
const compare = (base: Comparison["base"], next: Comparison["next"]): ComparedSides => ({
  comparison: compareRuns(base, next, { precision: 0.05, acceptsWithinRuns: false }),
  limits: [],
  isAll: false,
});
const withIntervals = {
  name: "own.json",
  runs: [
    makeMeasuredRun([
      { label: "concurrency 1", values: new Map([["throughput", { value: 5, low: 4, high: 6 }]]), notes: [] },
    ]),
  ],
};

const ALL = { isVerbose: true, moreFlag: "-v", terminalColumns: 110 };
const warningsOf = ({ comparison }: ComparedSides): string[] => comparison.warnings.map(({ text }) => text);

for (const [name, format] of [
  ["genai-perf-sessions.json", "GenAI-Perf's JSON"],
  ["perf-analyzer.csv", "perf_analyzer's CSV"],
] as const) {
  test(`${name}: single runs without intervals can give no verdict`, () => {
    const warnings = warningsOf(compare(read(name), read(name)));
    const note = `no file has confidence intervals within its run (${format} has none), so no verdict can rest on a single run: give 2 runs on each side at least`;
    assert.ok(warnings.includes(note), warnings.join("\n"));
  });

  test(`${name}: several runs need no intervals within runs`, () => {
    const warnings = warningsOf(compare(read(name, 2), read(name, 2)));
    const note = `no file has confidence intervals within its run (${format} has none); the verdicts need none, because they rest on how whole runs differ`;
    assert.ok(warnings.includes(note), warnings.join("\n"));
  });
}

test("only the side without intervals is named", () => {
  const warnings = warningsOf(compare(read("perf-analyzer.csv", 2), withIntervals));
  const found = warnings.filter((text) => text.includes("within the run"));
  assert.deepEqual(found, [
    "2 of 2 runs of perf-analyzer.csv have no confidence intervals within the run (perf_analyzer's CSV has none), so no verdict can rest on a single run: give 2 runs on each side at least",
  ]);
  const own = warningsOf(compare(withIntervals, withIntervals));
  assert.ok(!own.some((text) => text.includes("intervals within")));
});

test("a run that was too short for an interval is named only where it is alone", () => {
  const own = (name: string, count: number) => ({
    name,
    runs: Array.from({ length: count }, () => makeMeasuredRun([makeMeasuredLevel("concurrency 1", { throughput: 5 })])),
  });
  const notes = (count: number): string[] =>
    warningsOf(compare(own("a", count), own("b", count))).filter((text) => text.includes("intervals within"));
  assert.deepEqual(notes(2), []);
  assert.deepEqual(notes(1), [
    "no file has confidence intervals within its run (its requests are too few or too alike for one), so no verdict can rest on a single run: give 2 runs on each side at least",
  ]);
});

test("sessions and other parts of a file that are not compared are named in every report", async () => {
  const sides = compare(read("genai-perf-sessions.json", 2), read("genai-perf-sessions.json", 2));
  const note = "Not compared: request_count, sessions (3)";
  const model = buildComparisonModel([sides], false);
  assert.ok(renderText(model, ALL).includes(`  note  ${note}.\n`));
  assert.ok((await formatPage(model)).includes(note));
  assert.ok(formatMarkdownReport(model).replaceAll("\\", "").includes(note));
  const { comparisons } = toComparisonJson([sides], false);
  assert.deepEqual(comparisons[0]?.base.notCompared, ["request_count", "sessions (3)"]);
  assert.deepEqual(comparisons[0]?.new.notCompared, ["request_count", "sessions (3)"]);
});

test("parts of one side's files are named with the side", () => {
  const model = buildComparisonModel([compare(read("genai-perf-sessions.json"), withIntervals)], false);
  assert.match(
    renderText(model, ALL),
    / note {2}Not compared of genai-perf-sessions\.json: request_count, sessions\s+\(3\)\.\n/,
  );
});
