import { escapeXml } from "./markup.ts";
import type { Case, ReportModel, Suite } from "./model/report-model.ts";

/**
 * `--junit`: the suites of a report as JUnit XML, the format read by GitLab, Jenkins and GitHub reporters. Follows the schema of
 * Jenkins' xUnit plugin (junit-10.xsd). A failed case is a failure, and an unresolved one is an error.
 */

/** Formats the file. */
export function formatJunit({ name, suites }: ReportModel): string {
  const cases = suites.flatMap((suite) => suite.cases);
  const durationSec = suites.reduce((sum, suite) => sum + suite.durationSec, 0);
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${escapeXml(name)}" ${countsOf(cases, durationSec)}>
${suites.map(formatSuite).join("\n")}
</testsuites>
`;
}

function countsOf(cases: readonly Case[], durationSec: number): string {
  const count = (state: Case["state"]): number => cases.filter((one) => one.state === state).length;
  return `tests="${cases.length}" failures="${count("fail")}" errors="${count("unresolved")}" time="${seconds(durationSec)}"`;
}

function formatSuite({ name, startedAt, durationSec, cases }: Suite): string {
  const timestamp = startedAt.replace(/\.\d+Z$/, "");
  const suite = escapeXml(name);
  return `<testsuite name="${suite}" ${countsOf(cases, durationSec)} skipped="0" timestamp="${timestamp}">
${cases.map((one) => formatCase(one, suite)).join("\n")}
</testsuite>`;
}

function seconds(value: number): string {
  return value.toFixed(3);
}

const ELEMENTS = { fail: "failure", unresolved: "error" } as const;

function formatCase({ name, timeSec, state, kind, message, details = [], output = [] }: Case, suite: string): string {
  const head = `<testcase name="${escapeXml(name)}" classname="${suite}" time="${seconds(timeSec)}"`;
  const why = [message, ...details].filter((line) => line !== "");
  const printed = state === "pass" ? [...why, ...output] : output;
  const problem =
    state === "pass"
      ? ""
      : `<${ELEMENTS[state]} message="${escapeXml(message)}" type="${escapeXml(kind)}">${escapeXml(why.join("\n"))}</${ELEMENTS[state]}>`;
  const out = printed.length === 0 ? "" : `<system-out>${escapeXml(printed.join("\n"))}</system-out>`;
  return problem === "" && out === "" ? `${head}/>` : `${head}>${problem}${out}</testcase>`;
}
