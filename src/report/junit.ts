import { LEVEL_UNITS } from "../load/level-units.ts";
import type { Plan } from "../plan/plan.ts";
import { formatCount } from "../plan/units.ts";
import type { RunResult } from "../result/run-result.ts";
import { escapeXml } from "./markup.ts";
import { formatUs } from "./rampart/format.ts";
import { toRepeatedJson, toReportJson } from "./rampart/json.ts";
import type { Report, TextSink } from "./report.ts";
import { type LevelJson, type ReportJson, type RunJson, runsOf } from "./schema/report-schema.ts";
import { nameOfLevel, type RunSummary, summarizeRuns } from "./summary.ts";
import { writeReport } from "./write-report.ts";

/**
 * `--junit`: the run as JUnit XML, the format that GitLab, Jenkins and GitHub reporters read. A suite for each run, with a test case for
 * each assertion and one for each level. Follows the schema of Jenkins' xUnit plugin (junit-10.xsd).
 */

/** Creates the report. @param path of its file */
export function createJunitReport(plan: Plan, _sink: TextSink, path: string): Report {
  const write = (runs: readonly RunResult[], json: ReportJson): void =>
    writeReport(path, formatJunit(plan, runs, json), "outputs.files.junit");
  return {
    finish: (result) => write([result], toReportJson(plan, result) as ReportJson),
    finishRuns: (repeated) => write(repeated.runs, toRepeatedJson(plan, repeated) as ReportJson),
  };
}

/** A test case. */
interface TestCase {
  readonly name: string;
  readonly timeSec: number;
  /** Undefined when it passed. */
  readonly failure?: { readonly message: string; readonly type: string } | undefined;
  /** Further lines. */
  readonly output?: string | undefined;
}

/** Formats the file. */
export function formatJunit(plan: Plan, runs: readonly RunResult[], json: ReportJson): string {
  const summary = summarizeRuns(plan, runs, json);
  const all = runsOf(json);
  const cases = [
    ...assertionCases(summary),
    ...all.flatMap((run, index) => {
      const prefix = all.length > 1 ? `run ${index + 1}: ` : "";
      return [...levelCases(plan, run, summary, prefix), ...runCases(run, prefix)];
    }),
  ];
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" time="${seconds(json.durationSec)}"`;
  const name = escapeXml(plan.name);
  const timestamp = json.startedAt.replace(/\.\d+Z$/, "");
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${name}" ${counts}>
<testsuite name="${name}" ${counts} skipped="0" timestamp="${timestamp}">
${cases.map((one) => formatCase(one, name)).join("\n")}
</testsuite>
</testsuites>
`;
}

function seconds(value: number): string {
  return value.toFixed(3);
}

function assertionCases({ assertions }: RunSummary): TestCase[] {
  return assertions.map(({ text, isMet, measured, limit }) => {
    const message = `measured ${measured}, the limit is ${limit}`;
    return {
      name: text,
      timeSec: 0,
      ...(isMet ? { output: message } : { failure: { message, type: "assertion" } }),
    };
  });
}

function levelCases(plan: Plan, { levels }: RunJson, { warnings }: RunSummary, prefix: string): TestCase[] {
  return levels.map((level) => {
    const name = `${prefix}${nameOfLevel(plan, level)}`;
    const about = warnings.filter((warning) => warning.level === name).map(({ text }) => text);
    const isMeasured = level.outcome === "measured";
    const message = isMeasured ? "" : (about.find((text) => text.startsWith("not stable")) ?? describeOutcome(level));
    return {
      name: `${name} is measured`,
      timeSec: level.durationSec,
      ...(isMeasured ? {} : { failure: { message, type: level.outcome } }),
      output: [describeLevel(level), ...about].join("\n"),
    };
  });
}

/** A run that ended early has a test case of its own, because it may have no level. */
function runCases({ isPartial, error, durationSec }: RunJson, prefix: string): TestCase[] {
  if (!isPartial) return [];
  const message = error === undefined ? "the run was interrupted" : error.message;
  return [
    {
      name: `${prefix}the run ends as planned`,
      timeSec: durationSec,
      failure: { message, type: error?.code ?? "interrupted" },
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

function describeLevel({ inferPerSec, latency, failed, requests, load }: LevelJson): string {
  const times =
    latency === null
      ? "no request succeeded"
      : `p50 ${formatUs(latency.percentiles.p50.us)}, p99 ${formatUs(latency.percentiles.p99.us)}`;
  const asked = load.asked === null ? "" : ` of ${formatCount(load.asked)}`;
  const loaded = `${formatCount(load.delivered)}${asked} ${LEVEL_UNITS[load.unit].isScheduled ? "requests/s sent" : "in flight"}`;
  return `${formatCount(inferPerSec)}/s, ${times}, ${formatCount(requests)} requests, ${formatCount(failed)} failed, ${loaded}`;
}

function formatCase({ name, timeSec, failure, output }: TestCase, suite: string): string {
  const head = `<testcase name="${escapeXml(name)}" classname="${suite}" time="${seconds(timeSec)}"`;
  const parts = [
    ...(failure === undefined
      ? []
      : [
          `<failure message="${escapeXml(failure.message)}" type="${escapeXml(failure.type)}">${escapeXml(failure.message)}</failure>`,
        ]),
    ...(output === undefined ? [] : [`<system-out>${escapeXml(output)}</system-out>`]),
  ];
  return parts.length === 0 ? `${head}/>` : `${head}>${parts.join("")}</testcase>`;
}
