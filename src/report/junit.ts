import type { VerdictState } from "../measure/limits/verdict-state.ts";
import type { Plan } from "../plan/plan.ts";
import { formatCount } from "../plan/units.ts";
import { throughputUnitOf } from "../registry/service-kinds.ts";
import { measuredLevels } from "../result/judged-levels.ts";
import type { LevelResult, RunResult } from "../result/run-result.ts";
import { toRepeatedJson, toReportJson } from "./json/report-json.ts";
import { describeDelivery } from "./load-delivery.ts";
import { escapeXml } from "./markup.ts";
import { answerOf, formatFindMax } from "./rampart/find-max.ts";
import { formatUs } from "./rampart/format.ts";
import { formatMlperf } from "./rampart/mlperf.ts";
import type { Report, TextSink } from "./report.ts";
import { type LevelJson, type ReportJson, type RunJson, runsOf } from "./schema/report-schema.ts";
import { nameOfLevel, type RunSummary, summarizeRuns } from "./summary.ts";
import { stateOfSearch } from "./verdict.ts";
import { writeReport } from "./write-report.ts";

/**
 * `--junit`: the run as JUnit XML, the format that GitLab, Jenkins and GitHub reporters read. A suite for each run, with test cases for its
 * levels and answers; assertions are in the suite of a single run, or in one of their own before those of several. Follows the schema of Jenkins' xUnit plugin (junit-10.xsd).
 */

/** Creates the report. @param path of its file */
export function createJunitReport(plan: Plan, _sink: TextSink, path: string): Report {
  const write = (runs: readonly RunResult[], json: ReportJson): void =>
    writeReport(path, formatJunit(plan, runs, json), "outputs.files.junit");
  return {
    finish: (result) => write([result], toReportJson(plan, result)),
    finishRuns: (repeated) => write(repeated.runs, toRepeatedJson(plan, repeated)),
  };
}

/** Why a test case did not pass. The text is the message unless it says more. */
interface Problem {
  readonly message: string;
  readonly type: string;
  readonly text?: string;
}

/** A test case. It passes without a failure and an error. */
interface TestCase {
  readonly name: string;
  readonly timeSec: number;
  /** Why it failed. */
  readonly failure?: Problem | undefined;
  /** Why it is unresolved. */
  readonly error?: Problem | undefined;
  /** Further lines. */
  readonly output?: string | undefined;
}

/** A suite: the plan's assertions, or a run. */
interface TestSuite {
  readonly name: string;
  readonly startedAt: string;
  readonly durationSec: number;
  readonly cases: readonly TestCase[];
}

/** Formats the file. */
export function formatJunit(plan: Plan, runs: readonly RunResult[], json: ReportJson): string {
  const summary = summarizeRuns(plan, runs, json);
  const suites = suitesOf(plan, runs, json, summary);
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${escapeXml(plan.name)}" ${countsOf(
    suites.flatMap(({ cases }) => cases),
    json.durationSec,
  )}>
${suites.map(formatSuite).join("\n")}
</testsuites>
`;
}

/** A single run is one suite. Of a repeated plan, the assertions on all runs are the first one, and each run is one. */
function suitesOf(plan: Plan, runs: readonly RunResult[], json: ReportJson, summary: RunSummary): TestSuite[] {
  const all = runsOf(json);
  const { startedAt, durationSec } = json;
  const whole = assertionCases(summary);
  const isGood = whole.length > 0 && whole.every(({ failure, error }) => failure === undefined && error === undefined);
  const casesOf = (run: RunJson, index: number): TestCase[] => {
    const prefix = all.length > 1 ? `run ${index + 1}: ` : "";
    const result = runs[index] as RunResult;
    return [
      ...levelCases(plan, result, run, summary, prefix),
      ...answerCases(plan, result),
      ...checkCases(plan, result, isGood),
      ...runCases(run),
    ];
  };
  const [only] = all;
  if (all.length === 1 && only !== undefined)
    return [{ name: plan.name, startedAt, durationSec, cases: [...whole, ...casesOf(only, 0)] }];
  const together = { name: plan.name, startedAt, durationSec: 0, cases: whole };
  const each = all.map((run, index) => ({
    name: `${plan.name}, run ${index + 1}`,
    startedAt: run.startedAt,
    durationSec: run.durationSec,
    cases: casesOf(run, index),
  }));
  return whole.length === 0 ? each : [together, ...each];
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

function assertionCases({ assertions }: RunSummary): TestCase[] {
  return assertions.map(({ text, state, measured, limit }) => {
    const message = `measured ${measured}${limit === "" ? "" : `, the limit is ${limit}`}`;
    return { name: text, timeSec: 0, ...outcomeOf(state, { message, type: "assertion" }) };
  });
}

/** Returns what a test case has of a result. */
function outcomeOf(state: VerdictState, problem: Problem): Pick<TestCase, "failure" | "error" | "output"> {
  if (state === "pass") return { output: problem.message };
  return state === "fail" ? { failure: problem } : { error: problem };
}

function levelCases(
  plan: Plan,
  result: RunResult,
  { levels }: RunJson,
  { warnings }: RunSummary,
  prefix: string,
): TestCase[] {
  const measured = measuredLevels(result);
  return levels.map((level, index) => {
    const name = `${prefix}${nameOfLevel(plan, level)}`;
    const delivery = describeDelivery(plan, measured[index] as LevelResult);
    const texts = warnings.filter((warning) => warning.level === name).map(({ text }) => text);
    const about = [delivery, ...texts.filter((text) => text !== delivery)];
    const isMeasured = level.outcome === "measured";
    const message = isMeasured ? "" : (about.find((text) => text.startsWith("not stable")) ?? describeOutcome(level));
    return {
      name: `${nameOfLevel(plan, level)} is measured`,
      timeSec: level.durationSec,
      ...(isMeasured
        ? {}
        : outcomeOf(level.outcome === "over-limit" ? "fail" : "unresolved", { message, type: level.outcome })),
      output: [describeLevel(level), ...about].join("\n"),
    };
  });
}

/** The answer of a search, and MLPerf's verdict, where the run has them. */
function answerCases(plan: Plan, result: RunResult): TestCase[] {
  const { findMax, levels } = result;
  const unit = throughputUnitOf(plan.target);
  const cases: TestCase[] = [];
  if (findMax !== undefined) {
    const state = stateOfSearch(findMax);
    const message = `${answerOf(plan, findMax)}${findMax.isResolved ? "" : "; UNRESOLVED"}`;
    cases.push({
      name: "the highest load is found",
      timeSec: 0,
      ...outcomeOf(state, { message, type: "find-max" }),
      output: formatFindMax(plan, result, unit),
    });
  }
  for (const { mlperf } of levels) {
    if (mlperf === undefined) continue;
    const failure = mlperf.isValid ? {} : { failure: { message: mlperf.broken.join("; "), type: "mlperf" } };
    cases.push({ name: `MLPerf ${mlperf.scenario} is valid`, timeSec: 0, ...failure, output: formatMlperf(mlperf) });
  }
  return cases;
}

/**
 * The scenario's check of answers, with the first wrong ones as the text of the failure. Assertions that hold accept wrong answers, because
 * these are failed requests, which they judge.
 */
function checkCases({ check }: Plan, { failures }: RunResult, isAccepted: boolean): TestCase[] {
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

function describeOutcome({ outcome }: LevelJson): string {
  return {
    measured: "measured",
    unstable: "not stable",
    "over-limit": "over the latency limit",
    partial: "ended early",
  }[outcome];
}

function describeLevel({ inferPerSec, latency, failed, requests }: LevelJson): string {
  const times =
    latency === null
      ? "no request succeeded"
      : `p50 ${formatUs(latency.percentiles.p50.us)}, p99 ${formatUs(latency.percentiles.p99.us)}`;
  return `${formatCount(inferPerSec)}/s, ${times}, ${formatCount(requests)} requests, ${formatCount(failed)} failed`;
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
