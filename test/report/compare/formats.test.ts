import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noneOf } from "../../../src/measure/compare/verdict.ts";
import { findMetric } from "../../../src/measure/metrics/metric-names.ts";
import { compareRuns } from "../../../src/report/compare/compare-runs.ts";
import type { LevelComparison, RunSet } from "../../../src/report/compare/comparison.ts";
import { formatChange, formatInterval } from "../../../src/report/compare/comparison-text.ts";
import { toComparisonJson } from "../../../src/report/compare/json.ts";
import { type ChangeLimit, type ComparedSides, judgeLimit } from "../../../src/report/compare/limits.ts";
import { buildComparisonModel } from "../../../src/report/compare/model.ts";
import { levelChanges, runCurves } from "../../../src/report/compare/run-curves.ts";
import { judgeComparison } from "../../../src/report/compare/verdict.ts";
import { formatPage } from "../../../src/report/html/report-page.ts";
import { formatMarkdownReport } from "../../../src/report/markdown.ts";
import type { ReportModel } from "../../../src/report/model/report-model.ts";
import { comparisonSchema } from "../../../src/report/schema/comparison.ts";
import { renderText } from "../../../src/report/text/render-text.ts";
import { checkFields } from "../check-schema.ts";
import { makeMeasuredLevel, makeMeasuredRun, makeRunSet } from "./make-runs.ts";

/** One comparison in all its reports. */

const MS = 1e6;
const base = makeRunSet("base_<1>.json", {
  throughput: [100, 101, 99],
  errorRate: [0, 0, 0],
  "latency.mean": [10 * MS, 10.1 * MS, 9.9 * MS],
  "latency.p75": [10 * MS, 10.1 * MS, 9.9 * MS],
  "latency.p99": [20 * MS, 28 * MS, 14 * MS],
});
const next = makeRunSet("new.json", {
  throughput: [120, 121, 119],
  errorRate: [0.1, 0.1, 0.1],
  "latency.mean": [12 * MS, 12.1 * MS, 11.9 * MS],
  "latency.p75": [12 * MS, 12.1 * MS, 11.9 * MS],
  "latency.p99": [21 * MS, 27 * MS, 15 * MS],
});
const limit: ChangeLimit = {
  text: "mean > +5%",
  metric: findMetric("mean") as ChangeLimit["metric"],
  comparison: ">",
  of: "relative",
  amount: 0.05,
};
const comparison = compareRuns(base, next, { precision: 0.05, acceptsWithinRuns: false });
const sides: ComparedSides = { comparison, limits: judgeLimit(limit, comparison), isAll: false };

const modelOf = (parts: Partial<ComparedSides> = {}, isStrict = false): ReportModel =>
  buildComparisonModel([{ ...sides, ...parts }], isStrict);
const textOf = (model: ReportModel, isAll = false): string =>
  renderText(model, { isVerbose: isAll, moreFlag: "-v", ...(isAll ? { terminalColumns: 110 } : {}) });

test("the model has the verdict with what got worse, the limits, and the rows that matter", () => {
  const { verdict, name, checks, sections, notes } = modelOf();
  assert.equal(name, "new.json against base_<1>.json");
  assert.deepEqual(verdict, {
    name: "failed",
    headline: "the limit is broken; 2 worse (mean latency +20.0 %, error rate +10.0 points), 1 better, 1 inconclusive",
    facts: ["3 against 3 runs"],
  });
  assert.equal(checks[0]?.state, "fail");
  assert.match(checks[0]?.measured ?? "", /^\+20\.0 % \(\+17\.\d to \+22\.\d %\) at concurrency 4$/);
  const [section] = sections;
  const [table] = section?.tables ?? [];
  assert.deepEqual(
    table?.rows.map(([name]) => name?.value),
    ["throughput", "error rate", "mean latency", "p99 latency"],
    "what is inconclusive has its row, as the headline counts it",
  );
  assert.deepEqual(
    table?.rows.map((row) => row[1]),
    [
      { value: "better", mark: "better" },
      { value: "worse", mark: "worse" },
      { value: "worse", mark: "worse" },
      { value: "inconclusive" },
    ],
  );
  assert.deepEqual(
    notes.map(({ code, severity }) => [code, severity]),
    [
      ["runs-needed", "detail"],
      ["confidence", "detail"],
    ],
  );
});

test("the verdict and the exit code say the same, with limits in all states", () => {
  const kept = judgeLimit({ ...limit, amount: 0.5 }, comparison);
  const open = judgeLimit({ ...limit, metric: findMetric("p99") as never }, comparison);
  const undecidable = judgeLimit(limit, { ...comparison, levels: [], onlyInBase: ["concurrency 4"] });
  for (const [limits, isStrict, name, exitCode] of [
    [[], false, "measured", 0],
    [kept, true, "passed", 0],
    [sides.limits, false, "failed", 65],
    [[...open, ...kept], false, "unresolved", 0],
    [[...open, ...kept], true, "unresolved", 66],
    [undecidable, false, "unresolved", 66],
    [[...undecidable, ...sides.limits], false, "failed", 65],
  ] as const) {
    const all = [{ ...sides, limits }];
    const verdict = judgeComparison(all, isStrict);
    assert.deepEqual([verdict.name, verdict.exitCode], [name, exitCode]);
    const reasons = limits.flatMap(({ state }) =>
      state === "kept" ? [] : [state === "broken" ? "fail" : "unresolved"],
    );
    assert.deepEqual(verdict.reasons.map(({ state }) => state).toSorted(), reasons.toSorted());
    for (const { text } of verdict.reasons) assert.match(text, /^mean > \+5%: /);
    const model = buildComparisonModel(all, isStrict);
    assert.deepEqual([model.verdict.name, model.verdict.headline], [name, verdict.headline]);
    assert.deepEqual(toComparisonJson(all, isStrict).verdict, verdict);
    assert.ok(textOf(model).startsWith(`${name.toUpperCase()}  new.json against`));
    assert.match(formatMarkdownReport(model), new RegExp(`^## .*${name}: new\\.json against`, "i"));
  }
});

test("where names are long, the interval stands below the change, and no line is longer than 80 columns", () => {
  const slow = (factor: number) => ({
    outputTokensPerSec: [2000 / factor, 2010 / factor, 1990 / factor],
    "timeToFirstToken.mean": [10 * MS * factor, 10.1 * MS * factor, 9.9 * MS * factor],
    "normalizedTimePerOutputToken.p99": [20 * MS * factor, 28 * MS * factor, 14 * MS * factor],
  });
  const compared = compareRuns(makeRunSet("a.json", slow(1)), makeRunSet("b.json", slow(1.2)), {
    ...{ precision: 0.05, acceptsWithinRuns: false },
  });
  const lines = textOf(modelOf({ comparison: compared, limits: [] })).split("\n");
  const { metrics = [] } = compared.levels[0] ?? {};
  assert.equal(metrics.length, 3);
  for (const { metric, base, change } of metrics) {
    const at = lines.findIndex((line) => line.startsWith(metric.label.slice(0, 16)));
    assert.match(lines[at] ?? "", new RegExp(` ${formatChange(change).replace(/[+.]/g, "\\$&")} `), metric.label);
    const end = change.high === null ? "" : formatInterval(change);
    assert.ok(end !== "" && lines[at + 1]?.includes(end), `${metric.label} ${base.mean}: ${lines[at + 1]}`);
  }
  assert.ok(lines.some((line) => /^metric +verdict +change +base +new$/.test(line)));
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  );
});

test("the console has the verdict first, the changes, the limits and few notes, in 80 columns", () => {
  const warnings = [1, 2, 3, 4].map((number) => ({
    code: "note-of-run",
    text: `new.json, ${"word ".repeat(20)}${number}`,
  }));
  const text = textOf(modelOf({ comparison: { ...comparison, warnings } }));
  assert.match(text, /^FAILED {2}new\.json against base_<1>\.json +3 against 3 runs\n {2}the limit is broken; 2 worse/);
  assert.match(text, /\nconcurrency 4\nmetric +verdict +change +95 % interval +base +new\n/);
  assert.match(text, /^throughput +better +\+20\.0 % +\+17\.\d to \+22\.\d % +100\/s +120\/s\n/m);
  assert.match(text, /^error rate +worse +\+10\.0 points +\+10\.0 to \+10\.0 +0 % +10 %\n/m);
  assert.match(text, /\n {2}FAIL {2}mean > \+5% +\+20\.0 % \(\+17\.\d to \+22\.\d %\) at concurrency 4\n/);
  assert.equal(text.match(/^ {2}note {2}/gm)?.length, 3);
  assert.match(text, /\n {2}… 3 more notes: -v\n$/);
  assert.deepEqual(
    text.split("\n").filter((line) => line.length > 80),
    [],
  );
  const all = textOf(modelOf({ isAll: true }), true);
  assert.match(all, /p75 latency[\s\S]*p99 latency/);
  assert.match(
    all,
    /To see whether it changed at all, runs needed on each side at\s+concurrency\s+4:\s+p99\s+latency\s+more\s+than\s+100\.\n/,
  );
  assert.match(all, /about 1\s+verdict in 20/);
  assert.match(all, /^p99 latency +inconclusive /m);
});

test("what is open at several levels for the same reason is said once, with all of their changes", () => {
  const labels = ["concurrency 1", "concurrency 2", "concurrency 4"];
  const { levels } = comparison;
  const all = { ...comparison, levels: labels.flatMap((label) => levels.map((level) => ({ ...level, label }))) };
  const p99 = { ...limit, text: "p99 > +5%", metric: findMetric("p99") as never };
  const { notes } = modelOf({ comparison: all, limits: [] });
  assert.deepEqual(
    notes.flatMap(({ code, text, levels: of }) => (code === "runs-needed" ? [[text, of]] : [])),
    [
      [
        "To see whether it changed at all, runs needed on each side at concurrency 1, 2 and 4: p99 latency more than 100.",
        labels,
      ],
    ],
  );
  const { checks } = modelOf({ comparison: all, limits: [...judgeLimit(p99, all), ...judgeLimit(limit, all)] });
  assert.deepEqual(
    checks.map(({ state, text }) => `${state} ${text}`),
    ["unresolved p99 > +5%", ...labels.map(() => "fail mean > +5%")],
  );
  assert.match(checks[0]?.measured ?? "", /^\S+ % \([^)]*\) at concurrency 1, 2 and 4; use p75$/);
  const missing = judgeLimit(limit, { ...comparison, levels: [], onlyInBase: labels });
  assert.deepEqual(
    modelOf({ limits: missing }).checks.map(({ measured }) => measured),
    ["no value at concurrency 1, 2 and 4: new.json does not have this level"],
  );
});

test("what a limit needs is said with the limit alone, which is another number than for the change", () => {
  const noted = (limits: ComparedSides["limits"]): boolean =>
    modelOf({ limits }).notes.some(({ code, text }) => code === "runs-needed" && text.includes("p99 latency"));
  assert.deepEqual(
    [noted([]), noted(judgeLimit({ ...limit, metric: findMetric("p99") as never }, comparison))],
    [true, false],
  );
});

test("times that are 0 on both sides are left out, unless all are asked for", () => {
  const zero = { throughput: [1, 2], serverQueue: [0, 0] };
  const empty = compareRuns(makeRunSet("a", zero), makeRunSet("b", zero), {
    precision: 0.05,
    acceptsWithinRuns: false,
  });
  const format = (isAll: boolean): string => textOf(modelOf({ comparison: empty, limits: [], isAll }), isAll);
  assert.ok(!format(false).includes("server queue"));
  assert.match(format(true), /server queue +no difference shown +±0\.00 % +±0\.00 to ±0\.00 % +0 us +0 us/);
});

test("a part of the server's time that is all of it on both sides is left out, unless all are asked for", () => {
  const settings = { precision: 0.05, acceptsWithinRuns: false };
  const sideOf = (name: string, wholeNs: number, inferNs = wholeNs) =>
    makeRunSet(name, { serverLatency: [wholeNs, wholeNs], serverComputeInfer: [inferNs, inferNs] });
  const isShown = (next: RunSet, isAll = false): boolean => {
    const sides = compareRuns(sideOf("a", 1e6), next, settings);
    return textOf(modelOf({ comparison: sides, limits: [], isAll }), isAll).includes("server compute infer");
  };
  assert.deepEqual([isShown(sideOf("b", 2e6)), isShown(sideOf("b", 2e6), true)], [false, true]);
  assert.ok(isShown(sideOf("b", 2e6, 1.5e6)));
});

test("a side with one run has the values and changes of the first screen without verdicts, and how to get them", () => {
  const one = (name: string, value: number) => ({
    name,
    runs: [
      makeMeasuredRun(
        [makeMeasuredLevel("concurrency 1", { throughput: value, outputTokensPerSec: 1, "latency.mean": value })],
        { source: name },
      ),
    ],
  });
  const single = compareRuns(one("a.json", 1), one("b.json", 2), { precision: 0.05, acceptsWithinRuns: false });
  const text = textOf(modelOf({ comparison: single, limits: [] }));
  assert.equal(
    text,
    `MEASURED  b.json against a.json                                  1 against 1 run
  values and changes without verdicts, because a side has one run

concurrency 1
metric             change         base          new
throughput         +100 %          1/s          2/s
mean latency       +100 %   0.00100 us   0.00200 us
output tokens/s   ±0.00 %            1            1

  note  Give 2 runs on each side at least, better 5 (repeat in a scenario, or
        several files).
  … 1 more note: -v
`,
  );
  assert.match(textOf(modelOf({ comparison: single, limits: [], isAll: true }), true), /^mean latency +\+100 % /m);
  const limits = judgeLimit({ ...limit, metric: findMetric("p99") as never }, single);
  assert.match(
    textOf(modelOf({ comparison: single, limits })),
    /^throughput +\+100 % +1\/s +2\/s$/m,
    "beside a limit too",
  );
});

test("an undecided comparison says what would decide it", () => {
  const p99 = { "latency.p99": [20 * MS, 28 * MS, 14 * MS] };
  const open = compareRuns(makeRunSet("a", p99), makeRunSet("b", p99), { precision: 0.05, acceptsWithinRuns: false });
  assert.equal(
    judgeComparison([{ comparison: open, limits: [], isAll: false }], false).headline,
    "1 inconclusive: more runs on each side would show what differs",
  );
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
  const check = (amount: number): string => {
    const [found] = modelOf({ comparison: wide, limits: judgeLimit({ ...near, amount }, wide) }).checks;
    return `${found?.state} ${found?.measured}`;
  };
  assert.match(check(0.05), /^unresolved .*; it is so close to the limit that 100 runs on each side would not decide/);
  assert.match(check(0.15), /^unresolved .*; about \d+ runs on each side would decide this limit$/);
});

test("a percentile that decides in place of another has its row", () => {
  const limits = judgeLimit({ ...limit, text: "p99 > +5%", metric: findMetric("p99") as never }, comparison);
  const model = modelOf({ limits });
  assert.match(model.checks[0]?.measured ?? "", /; use p75$/);
  const names = model.sections[0]?.tables[0]?.rows.map(([name]) => name?.value);
  assert.ok(names?.includes("p75 latency"), names?.join());
});

test("differences of the plans, and levels that one side lacks, are notes that are always shown", () => {
  const differences = Array.from({ length: 12 }, (_, index) => ({ path: `plan.${index}`, base: "a", next: "b" }));
  const onlyInBase = ["concurrency 8"];
  const { notes } = modelOf({ comparison: { ...comparison, differences, onlyInBase } });
  const [plans, levels] = notes;
  assert.deepEqual([plans?.code, plans?.severity], ["plans-differ", "caution"]);
  assert.match(plans?.text ?? "", /: plan\.0 a → b, .*, plan\.7 a → b and 4 more\.$/);
  assert.deepEqual([levels?.code, levels?.text], ["levels-of-one-side", "Only in base_<1>.json: concurrency 8."]);
});

test("several candidates have a section each, and equal notes once", () => {
  const other = compareRuns(base, { ...next, name: "other.json" }, { precision: 0.05, acceptsWithinRuns: false });
  const model = buildComparisonModel(
    [sides, { comparison: other, limits: judgeLimit(limit, other), isAll: false }],
    false,
  );
  assert.equal(model.name, "new.json, other.json against base_<1>.json");
  const [first, second, ...curves] = model.sections;
  assert.deepEqual(
    curves.map(({ title, tables, charts }) => [title, tables.length, charts.length > 0]),
    Array(2).fill(["All runs over each other", 0, true]),
  );
  assert.deepEqual(
    [first, second].map((section) => section?.title),
    ["new.json (3 runs)", "other.json (3 runs)"],
  );
  assert.deepEqual(
    model.checks.map(({ text }) => text),
    ["new.json: mean > +5%", "other.json: mean > +5%"],
  );
  assert.equal(model.notes.filter(({ code }) => code === "confidence").length, 1);
  const { headline } = judgeComparison([sides, { ...sides, comparison: other }], false);
  assert.match(headline, /4 worse \(new\.json: mean latency \+20\.0 %, other\.json: mean latency \+20\.0 %, …\)/);
  const printed = model.suites.at(-1)?.cases.at(-1)?.output ?? [];
  assert.deepEqual(
    printed.filter((line) => line.endsWith("(3 runs)")),
    ["new.json (3 runs)", "other.json (3 runs)"],
  );
  assert.ok(!(modelOf().suites.at(-1)?.cases.at(-1)?.output ?? []).includes(""));
});

test("a level without a metric on both sides has no heading", async () => {
  const searched = comparison.levels.map((level) => ({ ...level, label: "search", metrics: [] }));
  const parts = { ...sides, comparison: { ...comparison, levels: [...searched, ...comparison.levels] } };
  const model = modelOf(parts);
  for (const text of [textOf(model), formatMarkdownReport(model), await formatPage(model)]) {
    assert.ok(!text.includes("search for the highest load"), text);
    assert.ok(text.includes("concurrency 4"), text);
  }
});

test("Markdown has tables that hold whatever names are", () => {
  const text = formatMarkdownReport(modelOf());
  assert.match(text, /^## ❌ Failed: new\.json against base\\_\\<1\\>\.json\n\nthe limit is broken; /);
  assert.match(text, /\n\| mean \\> \+5% \| \+20\.0 % .* \| ❌ FAIL \|\n/);
  const rows = text
    .slice(text.indexOf("| metric"))
    .split("\n")
    .filter((line) => line.startsWith("|"));
  assert.equal(rows.length, 2 + 4);
  for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 8, row);
  assert.match(text, /\| mean latency \| worse \| \+20\.0 % \| .* \| 10\.0 ms \| 12\.0 ms \|/);
});

test("HTML is one page without references, and escapes names", async () => {
  const text = await formatPage(modelOf());
  assert.match(text, /^<!doctype html>/);
  assert.ok(!/src=|href="(?!#)|https?:|@import|url\((?!#)/.test(text.replaceAll(/ xmlns(:xlink)?="[^"]*"/g, "")));
  assert.ok(text.includes("base_&lt;1&gt;.json") && !text.includes("<1>"));
  assert.match(text, /prefers-color-scheme: dark/);
  assert.match(text, /<td class="worse">worse<\/td>/);
  assert.equal(text.match(/ class="still"/g)?.length, 2, "the changes and all runs");
  const still = text.replaceAll(/<script>[\s\S]*?<\/script>/g, "");
  assert.equal(still.match(/<svg class="(narrow|middle|broad)"/g)?.length, 2 * 3, "the charts need no script");
  assert.ok(text.length < 100_000, `the page has ${text.length} characters`);
  for (const tag of ["section", "table", "tbody", "tr", "td", "li", "ul", "p"])
    assert.equal(
      text.match(new RegExp(`<${tag}[ >]`, "g"))?.length,
      text.match(new RegExp(`</${tag}>`, "g"))?.length,
      tag,
    );
});

test("JSON has every metric, with the numbers that the other reports show", () => {
  const json = toComparisonJson([sides], false);
  checkFields(comparisonSchema, JSON.parse(JSON.stringify(json)));
  const { comparisons } = json;
  const [only] = comparisons;
  const metrics = only?.levels[0]?.metrics ?? [];
  assert.deepEqual(
    metrics.map(({ name, unit, better, verdict }) => [name, unit, better, verdict]),
    [
      ["throughput", "perSec", "higher", "better"],
      ["errorRate", "ratio", "lower", "worse"],
      ["latency.mean", "us", "lower", "worse"],
      ["latency.p75", "us", "lower", "worse"],
      ["latency.p99", "us", "lower", "inconclusive"],
    ],
  );
  const mean = metrics[2] as unknown as {
    base: { mean: number; low: number; high: number; runs: number[] };
    ratio: { value: number; low: number; high: number; basis: string };
  };
  assert.deepEqual(mean.base.runs, [10_000, 10_100, 9_900]);
  assert.ok(mean.base.low < mean.base.mean && mean.base.mean < mean.base.high);
  assert.ok(mean.ratio.low < mean.ratio.value && mean.ratio.value < mean.ratio.high);
  assert.ok(Math.abs(mean.ratio.value - 1.2) < 1e-9);
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
    ["ratio", 1, 0, null, "±0.00 %", "too uncertain"],
    ["ratio", 1.06, 0.35, null, "+6.0 %", "too uncertain"],
    ["ratio", 1.5, 0.63, 5.9, "+50.0 %", "too uncertain"],
    ["ratio", 4, 1.5, 9, "+300 %", "+50.0 % or more"],
    ["ratio", 0.2, 0.05, 0.7, "-80.0 %", "-30.0 % or less"],
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
  const [changes] = levelChanges(level as LevelComparison, metrics, true);
  assert.ok(changes?.kind === "changes");
  assert.equal(changes.title, "Changes", "its table has the name of the only level");
  assert.equal(levelChanges(level as LevelComparison, metrics, false)[0]?.title, "Changes at concurrency 4");
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

test("a value that its run marks is hollow in the chart of all runs", () => {
  const values = { throughput: 100, "latency.p99": { value: 20 * MS, isUncertain: true } } as const;
  const alone = { name: "a", runs: [makeMeasuredRun([makeMeasuredLevel("concurrency 4", values)])] };
  const [drawn] = runCurves(compareRuns(alone, next, { precision: 0.05, acceptsWithinRuns: false }));
  assert.ok(drawn?.kind === "xy");
  assert.deepEqual(
    drawn.series.map(({ name, uncertain }) => [name, uncertain]),
    [["base", [true]], ...next.runs.map(() => ["new", [false]])],
  );
});

test("the page begins with the verdict and the limits", async () => {
  const text = await formatPage(modelOf());
  const [verdict, check, chart, table] = ["<b>FAILED</b>", "<b>fail</b>", 'class="still"', "<table"].map((part) =>
    text.indexOf(part),
  );
  assert.ok(
    0 < (verdict ?? 0) && (verdict ?? 0) < (check ?? 0) && (check ?? 0) < (chart ?? 0) && (chart ?? 0) < (table ?? 0),
  );
});
