import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noneOf } from "../../../src/measure/compare/verdict.ts";
import { findMetric } from "../../../src/measure/metrics/metric-names.ts";
import { compareRuns } from "../../../src/report/compare/compare-runs.ts";
import type { LevelComparison } from "../../../src/report/compare/comparison.ts";
import { type ComparedSides, formatComparison } from "../../../src/report/compare/console.ts";
import { formatHtml } from "../../../src/report/compare/html.ts";
import { toComparisonJson } from "../../../src/report/compare/json.ts";
import { type ChangeLimit, judgeLimit } from "../../../src/report/compare/limits.ts";
import { formatMarkdown } from "../../../src/report/compare/markdown.ts";
import { levelChanges, runCurves } from "../../../src/report/compare/run-curves.ts";
import { formatChange, formatInterval } from "../../../src/report/compare/words.ts";
import { createSvgPainter, readChartLibrary } from "../../../src/report/plots/chart-library.ts";
import { makeMeasuredLevel, makeMeasuredRun, makeRunSet } from "./make-runs.ts";

/** One comparison in all its reports. */

const MS = 1e6;
const base = makeRunSet("base_<1>.json", {
  throughput: [100, 101, 99],
  errorRate: [0, 0, 0],
  "latency.avg": [10 * MS, 10.1 * MS, 9.9 * MS],
  "latency.p75": [10 * MS, 10.1 * MS, 9.9 * MS],
  "latency.p99": [20 * MS, 28 * MS, 14 * MS],
});
const next = makeRunSet("new.json", {
  throughput: [120, 121, 119],
  errorRate: [0.1, 0.1, 0.1],
  "latency.avg": [12 * MS, 12.1 * MS, 11.9 * MS],
  "latency.p75": [12 * MS, 12.1 * MS, 11.9 * MS],
  "latency.p99": [21 * MS, 27 * MS, 15 * MS],
});
const limit: ChangeLimit = {
  text: "avg > +5%",
  metric: findMetric("avg") as ChangeLimit["metric"],
  comparison: ">",
  of: "relative",
  amount: 0.05,
};
const comparison = compareRuns(base, next, { precision: 0.05, acceptsWithinRuns: false });
const sides: ComparedSides = { comparison, limits: judgeLimit(limit, comparison), isAll: false };

const paint = createSvgPainter(await readChartLibrary(), "transparent");

test("the console has verdicts first, then a table for each level, and the limits", () => {
  const text = formatComparison(sides);
  assert.match(text, /^new\.json \(3 runs\) against base_<1>\.json \(3 runs\): 2 worse, 1 better, 1 cannot say\n/);
  assert.match(text, /\nconcurrency 4\n {2}metric +base +new +change +95 % interval +verdict\n/);
  assert.match(text, / {2}throughput +100 +120 +\+20\.0 % +\+17\.\d to \+22\.\d % +better\n/);
  assert.match(text, / {2}error rate +0 % +10 % +\+10\.0 points +\+10\.0 to \+10\.0 points +worse\n/);
  assert.match(text, / {2}average latency +10 ms +12 ms +\+20\.0 % +\+17\.\d to \+22\.\d % +worse\n/);
  assert.match(text, /To say more, runs needed on each side: p99 latency about [\d,]+\n/);
  assert.match(text, /\nFAILED {2}avg > \+5%: \+20\.0 % \(\+17\.\d to \+22\.\d %\) at concurrency 4\n/);
  assert.match(text, /about 1 verdict in 20/);
  assert.ok(!text.includes("p75"));
  assert.match(formatComparison({ ...sides, isAll: true }), /p75 latency/);
});

test("times that are 0 on both sides are left out, unless all are asked for", () => {
  const zero = { throughput: [1, 2], serverQueue: [0, 0] };
  const empty = compareRuns(makeRunSet("a", zero), makeRunSet("b", zero), {
    precision: 0.05,
    acceptsWithinRuns: false,
  });
  const format = (isAll: boolean): string => formatComparison({ comparison: empty, limits: [], isAll });
  assert.ok(!format(false).includes("server queue"));
  assert.match(format(true), /server queue +0 us +0 us/);
});

test("single runs are noted once, and nothing is said about verdicts", () => {
  const one = (name: string, value: number) => ({
    name,
    runs: [makeMeasuredRun([makeMeasuredLevel("concurrency 1", { throughput: value })])],
  });
  const single = compareRuns(one("a.json", 1), one("b.json", 2), { precision: 0.05, acceptsWithinRuns: false });
  const text = formatComparison({ comparison: single, limits: [], isAll: false });
  assert.match(
    text,
    /^b\.json \(1 run\) against a\.json \(1 run\): 1 cannot say\nNote: each side has one run: nothing is known/,
  );
  assert.match(text, / {2}throughput +1 +2 +\+100 % +- +cannot say\n/);
  assert.ok(!text.includes("1 verdict in 20"));
});

test("a limit at the very change has no number of runs that would decide", () => {
  const wide = compareRuns(
    makeRunSet("a", { throughput: [90, 100, 110] }),
    makeRunSet("b", { throughput: [95, 105, 115] }),
    {
      precision: 0.05,
      acceptsWithinRuns: false,
    },
  );
  const near: ChangeLimit = { ...limit, text: "throughput > +5%", metric: findMetric("throughput") as never };
  const format = (amount: number): string => {
    const limits = judgeLimit({ ...near, amount }, wide);
    return formatComparison({ comparison: wide, limits, isAll: false });
  };
  assert.match(format(0.05), /cannot say {2}throughput .*; it is so close to the limit that more than 1,000 runs/);
  assert.match(format(0.15), /cannot say {2}throughput .*; about \d+ runs on each side would decide\n/);
});

test("differences of the plans are before the numbers", () => {
  const differences = Array.from({ length: 12 }, (_, index) => ({ path: `plan.${index}`, base: "a", next: "b" }));
  const text = formatComparison({ ...sides, comparison: { ...comparison, differences } });
  assert.match(
    text,
    /\nThe plans differ, .*:\n {2}plan\.0: a → b\n[\s\S]* {2}plan\.7: a → b\n {2}and 4 more\n[\s\S]*\nconcurrency 4\n/,
  );
});

test("what only one side has is listed", () => {
  const text = formatComparison({
    ...sides,
    comparison: { ...comparison, onlyInBase: ["concurrency 8"], onlyInNew: ["x"] },
  });
  assert.match(text, /\nOnly in base_<1>\.json: concurrency 8\nOnly in new\.json: x\n/);
});

test("a level without a metric on both sides has no heading", () => {
  const searched = comparison.levels.map((level) => ({ ...level, label: "search for the highest load", metrics: [] }));
  const parts = { ...sides, comparison: { ...comparison, levels: [...searched, ...comparison.levels] } };
  for (const text of [formatComparison(parts), formatMarkdown([parts]), formatHtml([parts], paint)]) {
    assert.ok(!text.includes("search for the highest load"), text);
    assert.ok(text.includes("concurrency 4"), text);
  }
});

test("Markdown has tables that hold whatever names are", () => {
  const text = formatMarkdown([sides]);
  assert.match(
    text,
    /^### new\.json \(3 runs\) against base\\_\\<1\\>\.json \(3 runs\)\n\n\*\*2 worse, 1 better, 1 cannot say\*\*\n/,
  );
  assert.match(text, /\n- \*\*FAILED\*\* avg \\> \+5%: /);
  const rows = text.split("\n").filter((line) => line.startsWith("|"));
  assert.equal(rows.length, 2 + 4);
  for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 8, row);
  assert.match(text, /\| average latency \| 10 ms \| 12 ms \| \+20\.0 % \| .* \| \*\*worse\*\* \|/);
});

test("HTML is one page without references, and escapes names", () => {
  const text = formatHtml([sides], paint);
  assert.match(text, /^<!doctype html>/);
  assert.ok(!/src=|href="(?!#)|https?:|@import|url\((?!#)/.test(text.replaceAll(/ xmlns(:xlink)?="[^"]*"/g, "")));
  assert.ok(text.length < 150_000, "it does without the chart library");
  assert.ok(text.includes("base_&lt;1&gt;.json") && !text.includes("<1>"));
  assert.match(text, /prefers-color-scheme: dark/);
  assert.match(text, /<td class="worse">worse<\/td>/);
  assert.equal(text.match(/<svg/g)?.length, 2 * 2, "the changes and all runs, for a screen and for a phone");
  for (const tag of ["section", "table", "tbody", "tr", "td", "li", "ul", "p", "svg"])
    assert.equal(
      text.match(new RegExp(`<${tag}[ >]`, "g"))?.length,
      text.match(new RegExp(`</${tag}>`, "g"))?.length,
      tag,
    );
});

test("JSON has every metric, with the numbers that the other reports show", () => {
  const { comparisons } = toComparisonJson([sides]) as {
    comparisons: {
      levels: { level: string; metrics: Record<string, unknown>[] }[];
      limits: Record<string, unknown>[];
      base: { runs: unknown[] };
    }[];
  };
  const [only] = comparisons;
  const metrics = only?.levels[0]?.metrics ?? [];
  assert.deepEqual(
    metrics.map(({ name, unit, better, verdict }) => [name, unit, better, verdict]),
    [
      ["throughput", "per second", "higher", "better"],
      ["errorRate", "ratio", "lower", "worse"],
      ["latency.avg", "us", "lower", "worse"],
      ["latency.p75", "us", "lower", "worse"],
      ["latency.p99", "us", "lower", "cannot-say"],
    ],
  );
  const average = metrics[2] as {
    base: { mean: number; low: number; high: number; runs: number[] };
    ratio: { value: number; low: number; high: number; basis: string };
  };
  assert.deepEqual(average.base.runs, [10_000, 10_100, 9_900]);
  assert.ok(average.base.low < average.base.mean && average.base.mean < average.base.high);
  assert.ok(average.ratio.low < average.ratio.value && average.ratio.value < average.ratio.high);
  assert.ok(Math.abs(average.ratio.value - 1.2) < 1e-9);
  assert.equal(only?.base.runs.length, 3);
  assert.equal(only?.limits[0]?.["state"], "broken");
  assert.doesNotThrow(() => JSON.parse(JSON.stringify(comparisons)));
});

describe("changes in words", () => {
  for (const [kind, value, low, high, change, interval] of [
    ["ratio", 1.0652, 1.02, 1.1, "+6.5 %", "+2.0 to +10.0 %"],
    ["ratio", 0.5, 0.4, 0.6, "-50.0 %", "-60.0 to -40.0 %"],
    ["ratio", 20, 15, 25, "+1,900 %", "+1,400 to +2,400 %"],
    ["ratio", 1.0001, 0.99, 1.01, "+0.01 %", "-1.0 to +1.0 %"],
    ["ratio", 1, 0, null, "±0.00 %", "unbounded"],
    ["ratio", 1.5, 1.2, null, "+50.0 %", "+20.0 % or more"],
    ["ratio", null, null, null, "-", ""],
    ["difference", 0.005, 0.001, 0.009, "+0.50 points", "+0.10 to +0.90 points"],
  ] as const)
    test(`${kind} ${value}: ${change}`, () => {
      assert.equal(formatChange({ kind, value, low, high, basis: "runs" }), change);
      assert.equal(formatInterval({ kind, value, low, high, basis: "runs" }), interval);
    });
});

test("the charts have all runs of both sides and all changes, at their values", () => {
  const [curves] = runCurves(comparison);
  assert.ok(curves?.kind === "xy");
  assert.deepEqual(
    curves.series.map(({ name, points }) => [name, points]),
    [
      ["base", [[100, 20]]],
      ["base", [[101, 28]]],
      ["base", [[99, 14]]],
      ["new", [[120, 21]]],
      ["new", [[121, 27]]],
      ["new", [[119, 15]]],
    ],
  );
  assert.equal(curves.isFromZero, false, "points of one level would all be in a corner");
  const [level] = comparison.levels;
  const metrics = level?.metrics ?? [];
  const [changes] = levelChanges(level as LevelComparison, metrics);
  assert.ok(changes?.kind === "changes");
  for (const [index, { metric, change, verdict }] of metrics.entries()) {
    const row: (typeof changes.rows)[number] | undefined = changes.rows[index];
    assert.equal(row?.name, metric.label);
    const pct = (end: number | null): number | null =>
      end === null ? null : Number((100 * (end - noneOf(change))).toPrecision(6));
    assert.deepEqual([row?.value, row?.low, row?.high], [change.value, change.low, change.high].map(pct));
    assert.equal(row?.mark, verdict === "worse" || verdict === "better" ? verdict : undefined);
  }
  const empty = compareRuns(makeRunSet("a", { errorRate: [0] }), makeRunSet("b", { errorRate: [0] }), {
    precision: 0.05,
    acceptsWithinRuns: false,
  });
  assert.deepEqual(runCurves(empty), []);
});

test("the page begins with the verdict and the limits", () => {
  const text = formatHtml([sides], paint);
  const [verdict, check, chart, table] = ["<b>FAILED</b>", "<b>fail</b>", "<svg", "<table"].map((part) =>
    text.indexOf(part),
  );
  assert.ok(
    0 < (verdict ?? 0) && (verdict ?? 0) < (check ?? 0) && (check ?? 0) < (chart ?? 0) && (chart ?? 0) < (table ?? 0),
  );
});
