import type { VerdictState } from "../measure/limits/verdict-state.ts";
import type { Plan } from "../plan/plan.ts";
import { formatCount } from "../plan/units.ts";
import { escapeXml } from "./markup.ts";
import { levelTable } from "./model/level-sections.ts";
import type { ReportModel } from "./model/report-model.ts";
import { type LevelRow, type NamedRun, type ReportView, viewReport } from "./model/report-view.ts";
import { answerOf } from "./model/search-answer.ts";
import { formatCell } from "./model/values.ts";
import { createModelFile } from "./model-report.ts";
import type { ReportJson, RunJson } from "./schema/report-schema.ts";

/**
 * `--junit`: the run as JUnit XML, the format that GitLab, Jenkins and GitHub reporters read. A suite for each run, with test cases for its
 * levels and answers; checks are in the suite of a single run, or in one of their own before those of several. Follows the schema of Jenkins' xUnit plugin (junit-10.xsd).
 */

/** Creates the report. */
export const createJunitReport = createModelFile(formatJunit, "outputs.files.junit");

/** Why a test case did not pass. The text is the message unless it says more. */
interface Problem {
  readonly message: string;
  readonly type: string;
  readonly text?: string;
}

/** A test case. It passes without a failure and an error. */
export interface TestCase {
  readonly name: string;
  readonly timeSec: number;
  /** Why it failed. */
  readonly failure?: Problem | undefined;
  /** Why it is unresolved. */
  readonly error?: Problem | undefined;
  /** Further lines. */
  readonly output?: string | undefined;
}

/** A suite: the plan's assertions, a run, or a comparison. */
export interface TestSuite {
  readonly name: string;
  readonly startedAt: string;
  readonly durationSec: number;
  readonly cases: readonly TestCase[];
}

/** Formats the file. */
export function formatJunit(model: ReportModel, plan: Plan, json: ReportJson): string {
  return formatSuites(model.name, suitesOf(model, viewReport(plan, json)), json.durationSec);
}

/** Formats suites as a file. */
export function formatSuites(name: string, suites: readonly TestSuite[], durationSec: number): string {
  const cases = suites.flatMap((suite) => suite.cases);
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${escapeXml(name)}" ${countsOf(cases, durationSec)}>
${suites.map(formatSuite).join("\n")}
</testsuites>
`;
}

/** A single run is one suite. Of a repeated plan, the checks of all runs are the first one, and each run is one. */
function suitesOf(model: ReportModel, view: ReportView): TestSuite[] {
  const { name } = model;
  const { startedAt, durationSec } = view.json;
  const whole = model.checks.map(({ text, state, measured }) => ({
    name: text,
    timeSec: 0,
    ...outcomeOf(state, { message: measured, type: "assertion" }),
  }));
  const isGood = whole.length > 0 && model.checks.every(({ state }) => state === "pass");
  const casesOf = (run: NamedRun): TestCase[] => [
    ...view.levels.filter((level) => level.run === run.name).map((level) => levelCase(model, view, level)),
    ...searchCases(view.plan, run.json),
    ...answerCases(view.plan, run.json, isGood),
    ...runCases(run.json),
  ];
  const [only] = view.runs;
  if (view.runs.length === 1 && only !== undefined)
    return [{ name, startedAt, durationSec, cases: [...whole, ...casesOf(only)] }];
  const each = view.runs.map((run) => ({
    name: `${name}, ${run.name}`,
    startedAt: run.json.startedAt,
    durationSec: run.json.durationSec,
    cases: casesOf(run),
  }));
  return whole.length === 0 ? each : [{ name, startedAt, durationSec: 0, cases: whole }, ...each];
}

function countsOf(cases: readonly TestCase[], durationSec: number): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const errors = cases.filter(({ error }) => error !== undefined).length;
  return `tests="${cases.length}" failures="${failures}" errors="${errors}" time="${seconds(durationSec)}"`;
}

function formatSuite({ name, startedAt, durationSec, cases }: TestSuite): string {
  const timestamp = startedAt.replace(/\.\d+Z$/, "");
  const own = escapeXml(name);
  return `<testsuite name="${own}" ${countsOf(cases, durationSec)} skipped="0" timestamp="${timestamp}">
${cases.map((one) => formatCase(one, own)).join("\n")}
</testsuite>`;
}

function seconds(value: number): string {
  return value.toFixed(3);
}

/** Returns what a test case has of a result. */
export function outcomeOf(state: VerdictState, problem: Problem): Pick<TestCase, "failure" | "error" | "output"> {
  if (state === "pass") return { output: problem.message };
  return state === "fail" ? { failure: problem } : { error: problem };
}

const OUTCOMES = {
  measured: "",
  unstable: "not stable",
  "over-limit": "over the latency limit",
  partial: "ended early",
};

/** A level: its numbers and the notes about it. */
function levelCase({ notes }: ReportModel, view: ReportView, row: LevelRow): TestCase {
  const { name, json } = row;
  const { columns, rows } = levelTable(view, [row]);
  const numbers = columns.map(
    ({ title, quantity }, index) => `${title} ${formatCell(rows[0]?.[index] ?? {}, quantity)}`,
  );
  const about = notes.filter(({ levels }) => levels.includes(name));
  const reason = about.find(({ code }) => code === "not-stable")?.text ?? OUTCOMES[json.outcome];
  const problem = { message: reason, type: json.outcome };
  return {
    name: `${name} is measured`,
    timeSec: json.durationSec,
    ...(json.outcome === "measured" ? {} : outcomeOf(json.outcome === "over-limit" ? "fail" : "unresolved", problem)),
    output: [numbers.join(", "), ...about.map(({ text }) => text)].join("\n"),
  };
}

/** The answer of a search, where the run has one. */
function searchCases(plan: Plan, { findMax }: RunJson): TestCase[] {
  if (findMax === undefined) return [];
  const { highest, isResolved } = findMax;
  const state = isResolved ? (highest === null ? "fail" : "pass") : "unresolved";
  const problem = { message: answerOf(plan, findMax), type: "find-max" };
  return [{ name: "the highest load is found", timeSec: 0, ...outcomeOf(state, problem) }];
}

/**
 * The scenario's check of answers, with the first wrong ones as the text of the failure. Assertions that hold accept wrong answers, because
 * these are failed requests, which they judge.
 */
function answerCases({ check }: Plan, { failures }: RunJson, isAccepted: boolean): TestCase[] {
  if (check === undefined) return [];
  const name = "answers are right";
  const wrong = failures.filter(({ kind }) => kind === "check");
  const count = wrong.reduce((sum, failure) => sum + failure.count, 0);
  if (count === 0) return [{ name, timeSec: 0 }];
  const message = `${formatCount(count)} ${count === 1 ? "answer is" : "answers are"} wrong`;
  const lines = wrong.flatMap(({ answers = [] }) => answers.map(({ reason, answer }) => `${reason}\n  ${answer}`));
  const text = [message, ...lines].join("\n");
  return [{ name, timeSec: 0, ...(isAccepted ? { output: text } : { failure: { message, type: "check", text } }) }];
}

/** A run that ended early has a test case of its own, because it may have no level. */
function runCases({ isPartial, error, durationSec }: RunJson): TestCase[] {
  if (!isPartial) return [];
  const message = error === undefined ? "the run was interrupted" : error.message;
  return [
    {
      name: "the run ends as planned",
      timeSec: durationSec,
      error: { message, type: error?.code ?? "interrupted" },
    },
  ];
}

function formatCase({ name, timeSec, failure, error, output }: TestCase, suite: string): string {
  const head = `<testcase name="${escapeXml(name)}" classname="${suite}" time="${seconds(timeSec)}"`;
  const parts = [
    ...(failure === undefined ? [] : [formatProblem("failure", failure)]),
    ...(error === undefined ? [] : [formatProblem("error", error)]),
    ...(output === undefined ? [] : [`<system-out>${escapeXml(output)}</system-out>`]),
  ];
  return parts.length === 0 ? `${head}/>` : `${head}>${parts.join("")}</testcase>`;
}

function formatProblem(element: string, { message, type, text }: Problem): string {
  return `<${element} message="${escapeXml(message)}" type="${escapeXml(type)}">${escapeXml(text ?? message)}</${element}>`;
}
