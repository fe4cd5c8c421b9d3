import type { Plan } from "../plan/plan.ts";
import { formatCount, formatDurationNs, formatPct } from "../plan/units.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { targetKindOf, throughputUnitOf } from "../registry/service-kinds.ts";
import { measuredLevels } from "../result/judged-levels.ts";
import type { LevelResult, RunResult } from "../result/run-result.ts";
import { toRepeatedJson, toReportJson } from "./json/report-json.ts";
import { escapeMarkdown } from "./markup.ts";
import type { VerdictName } from "./model/report-model.ts";
import { formatRange, MARK } from "./rampart/confidence-notes.ts";
import { answerOverRuns, formatFindMax } from "./rampart/find-max.ts";
import { formatUs } from "./rampart/format.ts";
import { VERDICT_WORDS } from "./rampart/verdicts-table.ts";
import type { Report, TextSink } from "./report.ts";
import { type LevelJson, type ReportJson, runsOf } from "./schema/report-schema.ts";
import { nameOfLevel, type RunSummary, summarizeRuns } from "./summary.ts";
import { mlperfTables, searchTable, sessionTable, wrongAnswerTable } from "./tables/answer-tables.ts";
import { groupTable, groupValueTables, tagGroupsOf } from "./tables/group-tables.ts";
import { loadTable } from "./tables/load-table.ts";
import { type NamedLevel, type ResultTable, textOf } from "./tables/result-table.ts";
import { combinationTable } from "./tables/runs-table.ts";
import { extractedTable, tokenTable } from "./tables/value-tables.ts";
import { writeReport } from "./write-report.ts";

/** `--markdown`: a summary for pull requests and the summaries of CI jobs. */

/** Creates the report. @param path of its file */
export function createMarkdownReport(plan: Plan, _sink: TextSink, path: string): Report {
  const write = (runs: readonly RunResult[], json: ReportJson): void =>
    writeReport(path, formatMarkdownReport(plan, runs, json), "outputs.files.markdown");
  return {
    finish: (result) => write([result], toReportJson(plan, result)),
    finishRuns: (repeated) => write(repeated.runs, toRepeatedJson(plan, repeated)),
  };
}

const VERDICTS: Readonly<Record<VerdictName, string>> = {
  failed: "❌ Failed",
  partial: "⚠️ Partial result",
  unresolved: "⚠️ Unresolved",
  passed: "✅ Passed",
  measured: "Measured",
};
const SIGNS = { pass: "✅", fail: "❌", unresolved: "⚠️" } as const;
const PERCENTILES = ["p50", "p90", "p99"] as const;
const MARK_TEXT = `\\${MARK} too few samples to trust`;
/** More levels or warnings are below a fold. */
const MOST_OPEN = 12;

/** Formats the summary. */
export function formatMarkdownReport(plan: Plan, runs: readonly RunResult[], json: ReportJson): string {
  const summary = summarizeRuns(plan, runs, json);
  const kind = targetKindOf(plan.target);
  const unit = throughputUnitOf(plan.target);
  const subject = kind.subject?.(plan.target) ?? `model ${json.model.name} on ${kind.describe(plan.target)}`;
  const parts = [
    `## ${VERDICTS[summary.verdict]}: ${escapeMarkdown(plan.name)}`,
    `${escapeMarkdown(`${summary.headline}. ${subject}, ${loadModeOf(plan.load).describe(plan.load)}`)}`,
    formatAssertions(summary),
    ...formatAnswers(plan, runs, json, unit),
    formatLevels(plan, json, unit),
    formatResultTable(loadTable(namedLevels(plan, runs, json))),
    ...formatParts(plan, runs, json, unit),
    formatWarnings(summary),
    formatFailures(runs),
    formatResultTable(wrongAnswerTable(namedRuns(runs))),
    formatTotals(runs),
  ].filter((part) => part !== "");
  return `${parts.join("\n\n")}\n`;
}

/** Formats a table; its cells are escaped. */
function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = header.map((_, index) => (index === 0 ? "---" : "---:"));
  return [line(header), line(rule), ...rows.map((row) => line(row.map(escapeMarkdown)))].join("\n");
}

/** Formats a table with its title; empty without rows. Columns without a text are left out. */
function formatResultTable({ title, header, rows, notes = [] }: ResultTable): string {
  if (rows.length === 0) return "";
  const kept = header.flatMap((_, column) => (rows.some((row) => textOf(row[column]) !== "") ? [column] : []));
  const texts = rows.map((row) => kept.map((column) => textOf(row[column])));
  const table = formatTable(
    kept.map((column) => escapeMarkdown(header[column] ?? "")),
    texts,
  );
  const isMarked = texts.some((row) => row.some((cell) => cell.endsWith(MARK)));
  const all = [...(isMarked ? [MARK_TEXT] : []), ...notes.map(escapeMarkdown)];
  return fold(
    [`### ${escapeMarkdown(title)}`, table, ...all].join("\n\n"),
    rows.length,
    `rows: ${escapeMarkdown(title)}`,
  );
}

/** Formats what the load was asked to find: the highest load, MLPerf's result, or means over runs. */
function formatAnswers(plan: Plan, runs: readonly RunResult[], json: ReportJson, unit: string): string[] {
  const levels = namedLevels(plan, runs, json);
  const combined = combinationTable(plan, json, unit);
  const answers = namedRuns(runs).flatMap(({ name, result }) => {
    if (result.findMax === undefined) return [];
    const [answer = "", ...rest] = formatFindMax(plan, result, unit).split("\n");
    const title = name === "" ? answer : `${name}: ${answer}`;
    return [[`**${escapeMarkdown(title)}**`, "", ...rest.map((line) => `- ${escapeMarkdown(line)}`)].join("\n")];
  });
  const overall = runs.length > 1 ? answerOverRuns(plan, { runs }) : undefined;
  return [
    ...(overall === undefined ? [] : [`**${escapeMarkdown(overall)}**`]),
    ...answers,
    formatResultTable(searchTable(plan, levels, unit)),
    ...mlperfTables(levels).map(formatResultTable),
    combined === undefined ? "" : formatResultTable(combined),
  ];
}

/** Formats the parts of levels: targets and tags, extracted values, and conversations. */
function formatParts(plan: Plan, runs: readonly RunResult[], json: ReportJson, unit: string): string[] {
  const levels = namedLevels(plan, runs, json);
  const tags = tagGroupsOf(levels);
  return [
    formatResultTable(tokenTable(levels)),
    ...tags.flatMap((tag) => [groupTable(tag, unit), groupValueTables(tag)[0]].map(formatResultTable)),
    ...(levels.some(({ json: { extracted } }) => extracted !== undefined)
      ? [formatResultTable(extractedTable(levels))]
      : tags.slice(0, 1).map((tag) => formatResultTable(groupValueTables(tag)[1]))),
    formatResultTable(sessionTable(namedRuns(runs))),
  ];
}

function namedRuns(runs: readonly RunResult[]): { readonly name: string; readonly result: RunResult }[] {
  return runs.map((result, index) => ({ name: runs.length === 1 ? "" : `run ${index + 1}`, result }));
}

/** Returns the levels of all runs with their names. */
function namedLevels(
  plan: Plan,
  runs: readonly RunResult[],
  json: ReportJson,
): (NamedLevel & { readonly result: LevelResult })[] {
  const data = runsOf(json);
  return namedRuns(runs).flatMap(({ name, result }, run) =>
    measuredLevels(result).map((level, index) => ({
      name: name === "" ? nameOfLevel(plan, level) : `${name}, ${nameOfLevel(plan, level)}`,
      json: data[run]?.levels[index] as LevelJson,
      result: level,
    })),
  );
}

function formatAssertions({ assertions }: RunSummary): string {
  if (assertions.length === 0) return "";
  const rows = assertions.map(({ state, text, measured }) => [
    text,
    measured,
    `${SIGNS[state]} ${VERDICT_WORDS[state]}`,
  ]);
  return formatTable(["Assertion", "Measured", ""], rows);
}

function formatLevels(plan: Plan, json: ReportJson, unit: string): string {
  const runs = runsOf(json);
  const levels = runs.flatMap((run) => run.levels);
  if (levels.length === 0) return "";
  const hasTokens = levels.some(({ tokens }) => tokens?.metrics["timeToFirstTokenUs"] !== undefined);
  const runNames = runs.flatMap((run, index) => run.levels.map(() => `run ${index + 1}`));
  const header = [
    ...(runs.length > 1 ? ["Run"] : []),
    "Level",
    escapeMarkdown(unit),
    "average",
    ...PERCENTILES,
    ...(hasTokens ? ["p99 TTFT", "tokens/s"] : []),
    "errors",
    "requests",
    "outcome",
  ];
  const rows = levels.map((level, index) => {
    const { latency, tokens } = level;
    const first = tokens?.metrics["timeToFirstTokenUs"];
    const rate = tokens?.outputTokensPerSec;
    return [
      ...(runs.length > 1 ? [runNames[index] ?? ""] : []),
      nameOfLevel(plan, level),
      formatThroughput(level),
      latency === null ? "-" : formatUs(latency.meanUs),
      ...PERCENTILES.map((name) => formatPercentile(level, name)),
      ...(hasTokens
        ? [first === undefined ? "-" : formatFirstToken(first), rate === undefined ? "-" : formatCount(rate)]
        : []),
      formatPct(level.errorRatio),
      formatCount(level.requests),
      level.outcome,
    ];
  });
  const isMarked = rows.some((row) => row.some((cell) => cell.endsWith(MARK)));
  const note = isMarked ? `\n\n${MARK_TEXT}` : "";
  return fold(`${formatTable(header, rows)}${note}`, levels.length, "levels");
}

/** Formats throughput with its interval, if it has one. */
function formatThroughput({ inferPerSec, inferPerSecLow: low, inferPerSecHigh: high }: LevelJson): string {
  const range = low === null || high === null ? "" : ` (${formatRange(formatCount(low), formatCount(high))})`;
  return `${formatCount(inferPerSec)}${range}`;
}

function formatPercentile({ latency }: LevelJson, name: (typeof PERCENTILES)[number]): string {
  if (latency === null) return "-";
  const { us, isReliable } = latency.percentiles[name];
  return `${formatUs(us)}${isReliable ? "" : MARK}`;
}

function formatFirstToken({ p99, confidence95 }: NonNullable<LevelJson["tokens"]>["metrics"][string]): string {
  return `${formatUs(p99)}${confidence95.p99.isReliable ? "" : MARK}`;
}

function formatWarnings({ warnings }: RunSummary): string {
  if (warnings.length === 0) return "";
  const lines = warnings.map(
    ({ level, text }) => `- ${level === undefined ? "" : `**${escapeMarkdown(level)}**: `}${escapeMarkdown(text)}`,
  );
  return fold(lines.join("\n"), lines.length, "warnings");
}

/** Hides a long part below a line that can be opened. */
function fold(text: string, count: number, what: string): string {
  return count <= MOST_OPEN ? text : `<details><summary>${count} ${what}</summary>\n\n${text}\n\n</details>`;
}

function formatFailures(runs: readonly RunResult[]): string {
  const rows = runs.flatMap(({ failures }) =>
    failures.map(({ kind, status, count, example, isWarmup }) => [
      `${kind}${status === undefined ? "" : ` ${status}`}${isWarmup === true ? " (warm-up)" : ""}`,
      formatCount(count),
      example,
    ]),
  );
  return rows.length === 0 ? "" : formatTable(["Failed requests", "count", "for example"], rows);
}

function formatTotals(runs: readonly RunResult[]): string {
  const sum = (pick: (run: RunResult) => number): number => runs.reduce((all, run) => all + pick(run), 0);
  const [sent, completed, failed, resent] = [
    sum(({ sentCount }) => sentCount),
    sum(({ completedCount }) => completedCount),
    sum(({ failedCount }) => failedCount),
    sum(({ resendCount }) => resendCount),
  ];
  const duration = formatDurationNs(sum(({ durationNs }) => durationNs));
  const among = runs.length > 1 ? ` in ${runs.length} runs` : "";
  return `${formatCount(sent)} requests${among}, ${formatCount(completed)} completed, ${formatCount(failed)} failed${resent === 0 ? "" : `, ${formatCount(resent)} sent again`}, in ${duration}.`;
}
