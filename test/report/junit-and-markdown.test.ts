import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import * as v from "valibot";
import { RunError } from "../../src/plan/problem.ts";
import { formatCsv } from "../../src/report/csv.ts";
import { toReportJson } from "../../src/report/json/report-json.ts";
import { formatJunit } from "../../src/report/junit.ts";
import { formatMarkdownReport } from "../../src/report/markdown.ts";
import { escapeMarkdown, escapeXml } from "../../src/report/markup.ts";
import { buildRunModel } from "../../src/report/model/build-model.ts";
import type { ReportModel } from "../../src/report/model/report-model.ts";
import { type ReportJson, reportSchema } from "../../src/report/schema/report-schema.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeLevel, makeResult } from "./make-result.ts";
import { modelOf, modelOfRuns } from "./model/make-model.ts";
import { checkCsv, readCsv } from "./read-csv.ts";
import { readXml, type XmlElement } from "./read-xml.ts";

/** Reports of a run for CI and spreadsheets: JUnit XML, Markdown and CSV. */

const EVIL = `]]> <b onclick="x">&amp; | \u0000\u001b[31m \ud800 @team https://evil.test [link](x) \n\n# title`;
const assertions = [
  { metric: { key: "latency", statistic: 99 }, comparison: "below", limit: 5e5 },
  { metric: { key: "errorRate" }, comparison: "at-most", limit: 0.5 },
] as const;
const plan = { ...makePlan({ assertions }), name: `run ${EVIL}` };

function reportOf(change: Partial<RunResult> = {}): { readonly model: ReportModel; readonly json: ReportJson } {
  const failures = [{ kind: "http", count: 3, example: EVIL, status: 500 }] as const;
  const levels = [makeLevel(), makeLevel({ level: 4, outcome: "over-limit" })];
  const result = makeResult(plan, levels, { failures, ...change });
  const json = v.parse(reportSchema, JSON.parse(JSON.stringify(toReportJson(plan, result))));
  return { model: buildRunModel(plan, json), json };
}

function junitOf(change?: Partial<RunResult>): XmlElement {
  return readXml(formatJunit(reportOf(change).model));
}

test("JUnit has a case for each assertion and level, failures with value and limit, and counts that agree", () => {
  const root = junitOf();
  assert.equal(root.name, "testsuites");
  const [suite] = root.children;
  assert.equal(suite?.name, "testsuite");
  const cases = suite?.children ?? [];
  assert.deepEqual(
    cases.map(({ attributes }) => attributes["name"]),
    ["p99 latency < 500 us", "error rate ≤ 50 %", "concurrency 1 is measured", "concurrency 4 is measured"],
  );
  const failed = cases.filter(({ children }) => children.some(({ name }) => name === "failure"));
  for (const element of [root, suite as XmlElement])
    assert.deepEqual(
      ["tests", "failures", "errors"].map((name) => Number(element.attributes[name])),
      [cases.length, failed.length, 0],
    );
  const messages = failed.map(({ children: [failure] }) => failure?.attributes["message"]);
  assert.deepEqual(messages, ["worst 1.00 ms at concurrency 1", "over the latency limit"]);
  // The attributes that the common schema requires.
  assert.match(suite?.attributes["timestamp"] ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  for (const { attributes } of cases) {
    assert.deepEqual(Object.keys(attributes), ["name", "classname", "time"]);
    assert.match(attributes["time"] ?? "", /^\d+\.\d{3}$/);
  }
});

test("the case of a level in one of several runs has its numbers, and the suite names the run", () => {
  const repeated = { runs: [1, 2].map(() => makeResult(plan, [makeLevel()])) };
  const [, first] = readXml(formatJunit(modelOfRuns(plan, repeated))).children;
  assert.match(first?.attributes["name"] ?? "", /, run 1$/);
  assert.match(first?.children[0]?.children[0]?.text ?? "", /^concurrency 1, infer\/s /);
});

test("a run that ended early is a failed case of JUnit", () => {
  const error = new RunError("unreachable", `gone: ${EVIL}`, "Start it.");
  const cases = junitOf({ error, levels: [] }).children[0]?.children ?? [];
  const last = cases.at(-1);
  assert.equal(last?.attributes["name"], "the run ends as planned");
  assert.equal(last?.children[0]?.attributes["type"], "unreachable");
});

test("a run whose requests all failed has a failed case of JUnit, also without assertions", () => {
  const bare = makePlan({ outputs: { style: "rampart" } });
  const failures = [{ kind: "http", count: 3, example: "no", status: 500 }] as const;
  const result = makeResult(bare, [makeLevel()], { failures, completedCount: 0, failedCount: 3 });
  const { suites } = buildRunModel(bare, toReportJson(bare, result));
  const failed = suites.flatMap(({ cases }) => cases.filter(({ state }) => state === "fail"));
  assert.deepEqual(
    failed.map(({ name, kind, message }) => [name, kind, message]),
    [["requests succeed", "only-failures", "all 3 requests failed: no"]],
  );
});

test("XML stays well formed whatever the texts are", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const root = readXml(`<a b="${escapeXml(text)}">${escapeXml(text)}</a>`);
      const allowed = text
        .toWellFormed()
        .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
      assert.deepEqual([root.attributes["b"], root.text], [allowed, allowed]);
    }),
  );
});

test("CSV has every number of the model, and a text of a server is neither a formula nor another cell", () => {
  const { model } = reportOf();
  checkCsv(formatCsv(model), model);
  assert.throws(() =>
    checkCsv(
      formatCsv(model).replace(/^(levels,1,.*?\b)30,/m, (_, before) => `${before}31,`),
      model,
    ),
  );
  const example = '=cmd|"/c calc"!A1, and\r\nmore';
  const { model: hostile } = reportOf({ failures: [{ kind: "http", count: 3, example, status: 500 }] });
  const [row] = readCsv(formatCsv(hostile)).find(([first]) => first?.["section"] === "failures") ?? [];
  assert.deepEqual([row?.["count"], row?.["example"]], ["3", `'=cmd|"/c calc"!A1, and more`]);
});

test("the CSV of a search names its limits, and has no digits that arithmetic left", () => {
  const p99 = { key: "latency", statistic: 99 } as const;
  const limits = [p99, p99, { key: "errorRate" } as const].map((metric) => {
    return { metric, comparison: "below", limit: 1e9 } as const;
  });
  const verdicts = limits.map((limit) => {
    return { limit, state: "kept", estimate: { value: 0.5, low: 0.1 + 0.2, high: 0.9 } } as const;
  });
  const level = { ...makeLevel({}), limits: { state: "kept", verdicts } } as const;
  const model = modelOf({ limits }, [level], { findMax: { highest: 1, next: 2, isResolved: true } });
  const [row = {}] = readCsv(formatCsv(model)).find(([first]) => first?.["section"] === "points") ?? [];
  const names = Object.keys(row).filter((name) => name.startsWith("limit") && !/ (?:low|high)/.test(name));
  assert.deepEqual(names, ["limit.latency.p99 (us)", "limit.latency.p99 (2) (us)", "limit.errorRate (%)"]);
  assert.equal(row["limit.errorRate low (%)"], "30");
  assert.match(formatJunit(model), /completed \d+, keeps the limits/);
});

test("Markdown begins with the verdict, and has assertions, levels, failures and counts", () => {
  const text = formatMarkdownReport(reportOf().model);
  assert.match(text, /^## ❌ Failed: run /);
  assert.match(text, /\| p99 latency \\< 500 us \| worst 1\.00 ms at concurrency 1 \| ❌ FAIL \|/);
  assert.match(text, /\| error rate ≤ 50 % \| 0 of 60 \| ✅ pass \|/);
  assert.match(text, /\| 4 \|.* 30\.0\\\* \| 1\.00 ms \|.* over the limit \|/);
  assert.match(text, /\| concurrency \| asked, in flight \| delivered \| mean in flight \| throughput × latency \|/);
  assert.match(text, /\| 4 \| 4 \| 0\.0300 \| 0\.0300 \| 0\.0300 \|/);
  assert.match(text, /\| http 500 \| 3 \|/);
  assert.match(text, /sent 60 requests over 1 connection in 3\.50 s: 60 completed, 0 failed/);
});

test("Markdown counts the notes that are folded", () => {
  const { model } = reportOf();
  const detail: ReportModel["notes"][number] = { code: "c", severity: "detail", levels: [], text: "A detail." };
  const summaryOf = (notes: ReportModel["notes"]): string | undefined =>
    /<summary>(\d+ more .*?)<\/summary>/.exec(formatMarkdownReport({ ...model, notes }))?.[1];
  assert.deepEqual([summaryOf([detail]), summaryOf([detail, detail])], ["1 more note", "2 more notes"]);
});

test("hostile texts stay one line of plain text in Markdown", () => {
  for (const line of formatMarkdownReport(reportOf().model).split("\n")) {
    if (line.startsWith("| http 500")) assert.equal(line.match(/(?<!\\)\|/g)?.length, 4, line);
    if (!line.startsWith("## ")) assert.doesNotMatch(line, /^# title/);
    assert.doesNotMatch(line, /(?<!\\)<b|@team|https:\/\/evil|(?<!\\)\[link/);
  }
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.doesNotMatch(escapeMarkdown(text), /[\n\r]|(?<!\\)(?:\\\\)*[|<>`*_[\]]/);
    }),
  );
});
