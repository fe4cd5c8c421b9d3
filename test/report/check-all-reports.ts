import assert from "node:assert/strict";
import { formatCount, formatPct, usToNs } from "../../src/plan/units.ts";
import { formatMarkdownReport } from "../../src/report/markdown.ts";
import { buildRunModel } from "../../src/report/model/build-model.ts";
import type { ReportModel } from "../../src/report/model/report-model.ts";
import { formatThreeDigits } from "../../src/report/model/values.ts";
import { formatUs } from "../../src/report/rampart/format.ts";
import { type LevelJson, type RunJson, runsOf } from "../../src/report/schema/report-schema.ts";
import { nameOfLevel } from "../../src/report/summary.ts";
import { renderText } from "../../src/report/text/render-text.ts";
import { measuredLevels } from "../../src/result/judged-levels.ts";
import { checkRelations } from "./check-relations.ts";
import type { Written } from "./html/make-report.ts";
import { tableOf, valuesOf } from "./model/make-model.ts";
import { type ReadTable, readPageTables } from "./read-tables.ts";
import { readXml } from "./read-xml.ts";

/** How the numbers of all reports of one run relate to each other. */

type Tokens = NonNullable<LevelJson["tokens"]>;
type Measured = NonNullable<LevelJson["groups"]>[number] | LevelJson;

/** A line of the file of records. */
interface Line {
  readonly metadata: {
    readonly model?: string;
    readonly run?: number;
    readonly window?: number;
    readonly phase?: string;
    readonly concurrency?: number;
    readonly request_rate?: number;
    readonly benchmark_phase: string;
    readonly was_cancelled: boolean;
    readonly tags?: Readonly<Record<string, string>>;
  };
  readonly metrics: Readonly<Record<string, { readonly value: number }>>;
  readonly error?: object;
}

/** Asserts that no number of a report contradicts one of another report. */
export function checkAllReports(written: Written): readonly RunJson[] {
  const { plan, runs, json } = written;
  for (const run of runs) checkRelations(plan, run);
  const all = runsOf(json);
  const levels = all.flatMap((run) => run.levels);
  for (const level of levels) {
    checkFirstToken(level);
    checkGroups(level);
  }
  const lines = written
    .read("records")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  for (const [index, run] of all.entries())
    checkRecords(
      run,
      lines.filter(({ metadata }) => (metadata.run ?? 1) === index + 1),
    );
  checkModel(written, levels);
  checkJunit(written, levels);
  if (plan.repeat !== undefined) return all;
  const unit = written.read("html").includes("infer/s") ? "infer/s" : "req/s";
  checkTables("page", readPageTables(written.read("html")), levels, unit);
  checkCsv(written.read("csv"), plan.load.kind === "phases" ? levels : levels.toSorted(byThroughput));
  return all;
}

function byThroughput(a: LevelJson, b: LevelJson): number {
  return a.inferPerSec - b.inferPerSec;
}

/** A first token comes before the end of its answer. */
function checkFirstToken({ latency, tokens, requests }: Measured): void {
  const first = tokens?.metrics["timeToFirstTokenUs"];
  if (first === undefined || latency === null || tokens?.requests !== requests) return;
  for (const [ofFirst, ofAll] of [
    [first.mean, latency.meanUs],
    [first.p50, latency.percentiles.p50.us + 1],
    [first.p99, latency.maxUs],
    [first.max, latency.maxUs],
  ] as const)
    assert.ok(ofFirst <= ofAll, `first token after ${ofFirst} us, whole answer after ${ofAll} us`);
}

/** The groups of a tag are the level. */
function checkGroups(level: LevelJson): void {
  const { groups = [] } = level;
  for (const tag of new Set(groups.flatMap(({ tags }) => Object.keys(tags)))) {
    const own = groups.filter(({ tags }) => tag in tags);
    for (const group of own) checkFirstToken(group);
    const sum = (pick: (of: Measured) => number | undefined): number =>
      own.reduce((total, group) => total + (pick(group) ?? 0), 0);
    for (const pick of [
      (of: Measured) => of.requests,
      (of: Measured) => of.failed,
      (of: Measured) => of.tokens?.requests,
      (of: Measured) => of.latency?.count,
    ])
      assert.equal(sum(pick), pick(level) ?? 0, `${tag}: groups and their level`);
    for (const pick of [
      (of: Measured) => of.inferPerSec,
      (of: Measured) => of.tokens?.outputTokensPerSec,
      (of: Measured) => of.inFlight.littlesLaw.expectedMean,
      (of: Measured) => of.requests * (of.latency?.meanUs ?? 0),
    ])
      near(sum(pick), pick(level) ?? 0, `${tag}: groups and their level`, 1e-6);
  }
}

/** The records of a level's windows are its requests. */
function checkRecords(run: RunJson, lines: readonly Line[]): void {
  const failed = lines.filter(({ error, metadata }) => error !== undefined && !metadata.was_cancelled);
  assert.deepEqual([lines.length, failed.length], [run.requests.sent, run.requests.failed], "rows");
  for (const level of run.levels) {
    const { first, last } = level.windows as NonNullable<LevelJson["windows"]>;
    assert.ok(first <= last && last - first < level.trials + 1);
    const own = lines.filter(({ metadata: { window = 0 } }) => window >= first && window <= last);
    for (const { metadata } of own) {
      assert.equal(metadata.benchmark_phase, "profiling");
      assert.equal(metadata.concurrency ?? metadata.request_rate, level.level);
      assert.equal(metadata.phase, level.phase?.name);
    }
    checkOwnRecords(level, own);
    for (const group of level.groups ?? []) {
      const [[tag, value] = ["", ""]] = Object.entries(group.tags);
      checkOwnRecords(
        group,
        own.filter(({ metadata: { tags } }) => (tags?.[tag] ?? null) === value),
      );
    }
  }
}

function checkOwnRecords({ requests, failed, latency, tokens }: Measured, lines: readonly Line[]): void {
  const ended = lines.filter(({ error }) => error === undefined);
  const wrong = lines.filter(({ error, metadata }) => error !== undefined && !metadata.was_cancelled);
  assert.deepEqual([ended.length, wrong.length], [requests, failed], "records in windows and counts of a level");
  if (requests > 0) near(1000 * meanOf(ended, "request_latency"), latency?.meanUs ?? 0, "average latency", 1e-4);
  const first = tokens?.metrics["timeToFirstTokenUs"];
  if (first !== undefined) near(1000 * meanOf(ended, "time_to_first_token"), first.mean, "TTFT", 1e-6);
  const outputs = tokens?.metrics["outputTokens"];
  if (outputs !== undefined) near(meanOf(ended, "output_sequence_length"), outputs.mean, "output tokens");
}

function meanOf(lines: readonly Line[], metric: string): number {
  const values = lines.flatMap(({ metrics }) => metrics[metric]?.value ?? []);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Rows of levels, of groups and of tokens in a report for people. */
function checkTables(name: string, tables: readonly ReadTable[], levels: readonly LevelJson[], unit: string): void {
  const isResult = ({ header }: ReadTable): boolean =>
    [unit, "average", "p99", "errors", "requests"].every((column) => header.includes(column));
  const [ofLevels, ...ofGroups] = tables.filter(isResult);
  assert.ok(ofLevels !== undefined, `${name} has rows of levels`);
  checkRows(name, ofLevels, levels, unit);
  const tags = [...new Set(levels.flatMap(({ groups = [] }) => groups.flatMap((group) => Object.keys(group.tags))))];
  assert.deepEqual(
    ofGroups.map(({ header: [first] }) => first),
    tags,
    `${name}: a table for each tag`,
  );
  for (const [index, tag] of tags.entries()) {
    const groups = levels.flatMap((level) => (level.groups ?? []).filter((group) => tag in group.tags));
    checkRows(name, ofGroups[index] as ReadTable, groups, unit);
  }
  const tokens = tables.flatMap(({ rows }) =>
    rows.flatMap((row) => ([row["tokens"], row["metric"]].includes("time to first token") ? [row] : [])),
  );
  const measured = levels.flatMap((level) => [level, ...(level.groups ?? [])]).flatMap((of) => of.tokens ?? []);
  for (const row of tokens)
    assert.ok(
      measured.some((of) => isRowOf(row, of)),
      `${name}: ${JSON.stringify(row)}`,
    );
  const shown = new Set(tokens.map((row) => JSON.stringify([row["average"], row["p50"], row["max"]])));
  const known = measured.flatMap(({ metrics }) => metrics["timeToFirstTokenUs"] ?? []);
  for (const { mean, p50, max, confidence95 } of known) {
    const cells = [formatUs(mean), `${formatUs(p50)}${confidence95.p50.isReliable ? "" : "*"}`, formatUs(max)];
    assert.ok(shown.has(JSON.stringify(cells)), `${name} has no row of ${cells.join(" ")}`);
  }
}

function checkRows(name: string, { rows }: ReadTable, measured: readonly Measured[], unit: string): void {
  assert.equal(rows.length, measured.length, `${name}: rows`);
  for (const [index, row] of rows.entries()) {
    const { inferPerSec, latency, requests, errorRatio, tokens } = measured[index] as Measured;
    const what = `${name}, ${Object.values(row)[0]}`;
    const at = (percentile: "p50" | "p90" | "p99"): string => {
      const { us, isReliable } = latency?.percentiles[percentile] ?? { us: 0, isReliable: true };
      return latency === null ? "-" : `${formatUs(us)}${isReliable ? "" : "*"}`;
    };
    const expected = {
      [unit]: formatCount(inferPerSec),
      average: latency === null ? "-" : formatUs(latency.meanUs),
      p50: at("p50"),
      p90: at("p90"),
      p99: at("p99"),
      errors: formatPct(errorRatio),
      requests: formatCount(requests),
    };
    for (const [column, text] of Object.entries(expected))
      assert.equal(row[column]?.replace(/ \(.* to .*\)$/, ""), text, `${what}: ${column}`);
    const first = tokens?.metrics["timeToFirstTokenUs"];
    if ("p99 TTFT" in row && first !== undefined)
      assert.equal(row["p99 TTFT"], `${formatUs(first.p99)}${first.confidence95.p99.isReliable ? "" : "*"}`, what);
  }
}

function isRowOf(row: Readonly<Record<string, string>>, { metrics }: Tokens): boolean {
  const first = metrics["timeToFirstTokenUs"];
  if (first === undefined) return false;
  const { p50, p90, p99 } = first.confidence95;
  const marked = ([value, { isReliable }]: readonly [number, { readonly isReliable: boolean }]): string =>
    `${formatUs(value)}${isReliable ? "" : "*"}`;
  const cells = [
    formatUs(first.mean),
    ...(
      [
        [first.p50, p50],
        [first.p90, p90],
        [first.p99, p99],
      ] as const
    ).map(marked),
    formatUs(first.max),
  ];
  return ["average", "p50", "p90", "p99", "max"].every((column, index) => row[column] === cells[index]);
}

/** The model of the stored report has the report's numbers, and the console and Markdown are that model. */
function checkModel({ plan, json, console, read }: Written, levels: readonly LevelJson[]): void {
  const model = buildRunModel(plan, json);
  assert.equal(console, renderText(model, { isVerbose: true }));
  assert.equal(read("markdown"), formatMarkdownReport(model));
  const rows = valuesOf(tableOf(model, plan.repeat === undefined ? answerOf(model) : "by-run"));
  const sorted = plan.limits === undefined ? levels : levels.toSorted((a, b) => a.level - b.level);
  checkModelRows(rows, sorted);
  for (const tag of new Set(levels.flatMap(({ groups = [] }) => groups.flatMap(({ tags }) => Object.keys(tags))))) {
    const groups = levels.flatMap((level) => (level.groups ?? []).filter((group) => tag in group.tags));
    checkModelRows(valuesOf(tableOf(model, `by-${tag}`)), groups);
  }
}

function answerOf({ sections }: ReportModel): string {
  return sections.some(({ id }) => id === "search") ? "search" : "levels";
}

function checkModelRows(
  rows: readonly Readonly<Record<string, number | string | undefined>>[],
  measured: readonly Measured[],
): void {
  assert.equal(rows.length, measured.length, "rows");
  for (const [index, row] of rows.entries()) {
    const { inferPerSec, latency, requests, failed, tokens } = measured[index] as Measured;
    const first = tokens?.metrics["timeToFirstTokenUs"];
    const ns = (us: number | undefined): number | undefined => (us === undefined ? undefined : usToNs(us));
    assert.deepEqual(
      [row["throughput"], row["requests"], row["failed"], row["latency.mean"], row["latency.p99"], row["latency.max"]],
      [inferPerSec, requests, failed, ns(latency?.meanUs), ns(latency?.percentiles.p99.us), ns(latency?.maxUs)],
    );
    assert.deepEqual([row["timeToFirstToken.p50"], row["timeToFirstToken.p99"]], [ns(first?.p50), ns(first?.p99)]);
  }
}

/** A case of a level has its throughput and counts. */
function checkJunit({ plan, runs, read }: Written, levels: readonly LevelJson[]): void {
  const suites = readXml(read("junit")).children;
  const cases = suites.flatMap(({ children }) => children);
  for (const suite of suites) {
    const failed = suite.children.filter(({ children }) => children.some(({ name }) => name === "failure"));
    assert.deepEqual([suite.attributes["tests"], suite.attributes["failures"]].map(Number), [
      suite.children.length,
      failed.length,
    ]);
  }
  const names = runs.flatMap((run) => measuredLevels(run).map((level) => `${nameOfLevel(plan, level)} is measured`));
  const texts = cases
    .filter(({ attributes }) => names.includes(attributes["name"] ?? ""))
    .map(({ children }) => children.find(({ name }) => name === "system-out")?.text ?? "");
  assert.equal(texts.length, levels.length, "cases of levels");
  for (const [index, { inferPerSec, requests, failed }] of levels.entries()) {
    const text = texts[index] ?? "";
    for (const part of [
      formatThreeDigits(inferPerSec),
      `requests ${formatCount(requests)}`,
      `failed ${formatCount(failed)}`,
    ])
      assert.ok(text.includes(part), `JUnit: ${part} in ${text}`);
  }
}

function checkCsv(text: string, levels: readonly LevelJson[]): void {
  const [header = [], ...rows] = text
    .trimEnd()
    .split("\n")
    .map((line) => (line.match(/"(?:[^"]|"")*"|[^,]+|(?<=,)(?=,|$)/g) ?? []) as string[]);
  assert.equal(rows.length, levels.length, "rows of CSV");
  for (const [index, row] of rows.entries()) {
    const { inferPerSec, requests, latency, load, inFlight, tokens } = levels[index] as LevelJson;
    const cell = (name: string): number => Number(row[header.indexOf(name)]);
    assert.equal(row.length, header.length);
    assert.equal(cell("Requests"), requests);
    for (const name of ["p50", "p90", "p95", "p99"] as const)
      assert.equal(cell(`${name} latency`), latency?.percentiles[name].us ?? 0);
    near(cell("Inferences/Second"), inferPerSec, "throughput", 1e-5);
    near(cell("Delivered Load"), load.delivered, "delivered", 1e-5);
    near(cell("Avg In Flight"), inFlight.mean, "in flight", 1e-5);
    near(cell("Throughput x Avg Latency"), inFlight.littlesLaw.expectedMean, "Little's law", 1e-5);
    const first = tokens?.metrics["timeToFirstTokenUs"];
    if (first === undefined) continue;
    near(cell("Output Tokens/Second"), tokens?.outputTokensPerSec ?? 0, "tokens/s", 1e-5);
    assert.equal(cell("Avg Time To First Token"), Math.floor(first.mean));
    assert.equal(cell("p99 Time To First Token"), Math.floor(first.p99));
  }
}

function near(actual: number, expected: number, what: string, ratio = 1e-9): void {
  const slack = ratio * Math.max(Math.abs(actual), Math.abs(expected), 1e-3);
  assert.ok(Math.abs(actual - expected) <= slack, `${what}: ${actual} and ${expected}`);
}
