import assert from "node:assert/strict";
import { formatCount, usToNs } from "../../src/plan/units.ts";
import { formatMarkdownReport } from "../../src/report/markdown.ts";
import { buildRunModel } from "../../src/report/model/build-model.ts";
import type { ReportModel } from "../../src/report/model/report-model.ts";
import { nameLevel } from "../../src/report/model/report-view.ts";
import { formatThreeDigits } from "../../src/report/model/values.ts";
import { type LevelJson, type RunJson, runsOf } from "../../src/report/schema/report-schema.ts";
import { renderText } from "../../src/report/text/render-text.ts";
import { measuredLevels } from "../../src/result/judged-levels.ts";
import { checkRelations } from "./check-relations.ts";
import type { Written } from "./html/make-report.ts";
import { checkPageTables } from "./html/read-page.ts";
import { spreadIn, valueIn } from "./json-metrics.ts";
import { tableOf, valuesOf } from "./model/make-model.ts";
import { checkCsv } from "./read-csv.ts";
import { readXml } from "./read-xml.ts";

/** How the numbers of all reports of one run relate to each other. */

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
  const { runs, plan, json } = written;
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
  return all;
}

/** A first token comes before the end of its response. */
function checkFirstToken(measured: Measured): void {
  const [first, latency] = [spreadIn(measured, "timeToFirstTokenUs"), spreadIn(measured, "latencyUs")];
  if (first === undefined || latency === undefined || measured.tokens?.withContent !== measured.completed) return;
  for (const [ofFirst, ofAll = 0] of [
    [first.mean, latency.mean],
    [first.p50, (latency.p50 ?? 0) + 1],
    [first.p99, latency.max],
    [first.max, latency.max],
  ] as const)
    assert.ok((ofFirst ?? Number.NaN) <= ofAll, `first token after ${ofFirst} us, whole response after ${ofAll} us`);
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
      (of: Measured) => of.completed,
      (of: Measured) => of.failed,
      (of: Measured) => of.tokens?.withContent,
      (of: Measured) => spreadIn(of, "latencyUs")?.count,
    ])
      assert.equal(sum(pick), pick(level) ?? 0, `${tag}: groups and their level`);
    for (const pick of [
      (of: Measured) => valueIn(of, "throughputPerSec"),
      (of: Measured) => valueIn(of, "outputTokensPerSec") || 0,
      (of: Measured) => of.inFlight.littlesLaw.expectedMean,
      (of: Measured) => of.completed * (spreadIn(of, "latencyUs")?.mean ?? 0),
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

function checkOwnRecords(measured: Measured, lines: readonly Line[]): void {
  const { completed, failed } = measured;
  const ended = lines.filter(({ error }) => error === undefined);
  const wrong = lines.filter(({ error, metadata }) => error !== undefined && !metadata.was_cancelled);
  assert.deepEqual([ended.length, wrong.length], [completed, failed], "records in windows and counts of a level");
  if (completed > 0)
    near(1000 * meanOf(ended, "request_latency"), spreadIn(measured, "latencyUs")?.mean ?? 0, "mean latency", 1e-4);
  const first = spreadIn(measured, "timeToFirstTokenUs");
  if (first !== undefined) near(1000 * meanOf(ended, "time_to_first_token"), first.mean, "TTFT", 1e-6);
  const outputs = spreadIn(measured, "outputTokens");
  if (outputs !== undefined) near(meanOf(ended, "output_sequence_length"), outputs.mean, "output tokens");
}

function meanOf(lines: readonly Line[], metric: string): number {
  const values = lines.flatMap(({ metrics }) => metrics[metric]?.value ?? []);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The model of the stored report has the report's numbers, and the console, Markdown and the page are that model. */
function checkModel({ plan, json, console, read }: Written, levels: readonly LevelJson[]): void {
  const model = buildRunModel(plan, json);
  assert.equal(console, renderText(model, { isVerbose: true }));
  assert.equal(read("markdown"), formatMarkdownReport(model));
  checkPageTables(read("html"), model);
  checkCsv(read("csv"), model);
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
    const json = measured[index] as Measured;
    const [first, latency] = [spreadIn(json, "timeToFirstTokenUs"), spreadIn(json, "latencyUs")];
    const ns = (us: number | undefined): number | undefined => (us === undefined ? undefined : usToNs(us));
    assert.deepEqual(
      [row["throughput"], row["completed"], row["failed"], row["latency.mean"], row["latency.p99"], row["latency.max"]],
      [
        valueIn(json, "throughputPerSec"),
        ...[json.completed, json.failed],
        ...[ns(latency?.mean), ns(latency?.p99), ns(latency?.max)],
      ],
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
  const names = runs.flatMap((run) => measuredLevels(run).map((level) => `${nameLevel(plan, level)} is measured`));
  const texts = cases
    .filter(({ attributes }) => names.includes(attributes["name"] ?? ""))
    .map(({ children }) => children.find(({ name }) => name === "system-out")?.text ?? "");
  assert.equal(texts.length, levels.length, "cases of levels");
  for (const [index, level] of levels.entries()) {
    const { completed, failed } = level;
    const text = texts[index] ?? "";
    for (const part of [
      formatThreeDigits(valueIn(level, "throughputPerSec")),
      `completed ${formatCount(completed)}`,
      `failed ${formatCount(failed)}`,
    ])
      assert.ok(text.includes(part), `JUnit: ${part} in ${text}`);
  }
}

function near(actual: number, expected: number, what: string, ratio = 1e-9): void {
  const slack = ratio * Math.max(Math.abs(actual), Math.abs(expected), 1e-3);
  assert.ok(Math.abs(actual - expected) <= slack, `${what}: ${actual} and ${expected}`);
}
