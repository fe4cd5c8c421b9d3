import type { OutputFilesPlan } from "../plan/plan.ts";
import type { Problem } from "../plan/problem.ts";
import type { Flag, FlagValues } from "./flags.ts";
import { checkOutputFiles, toOutputPath } from "./output-files.ts";

/** An option for the file of a report. */
interface ReportFlag extends Flag {
  /** The key of the file in a plan. */
  readonly file: keyof OutputFilesPlan;
}

/** Options of Rampart's own commands for the files of reports. `setting-names.ts` names each as the setting of its file. */
export const REPORT_FLAGS: readonly ReportFlag[] = [
  {
    name: "report",
    file: "html",
    value: "FILE",
    help: "Write the report as a page: one HTML file with verdicts, charts and tables that needs no network.",
  },
  {
    name: "json",
    file: "json",
    value: "FILE",
    help: "Write the report as JSON, with histograms. - is standard output; the text then goes to stderr.",
  },
  {
    name: "csv",
    file: "csv",
    value: "FILE",
    help: "Write the tables of the report as CSV, the levels first: a line for each row, times in microseconds, ratios 0 to 1.",
  },
  {
    name: "profile-export-file",
    file: "profileExport",
    value: "FILE",
    help: "Write every request, in perf_analyzer's profile export layout.",
  },
  {
    name: "records",
    file: "records",
    value: "FILE",
    help: "Write every request, also failed ones, as one line of JSON: times, outcome, sizes and level.",
  },
  {
    name: "junit",
    file: "junit",
    value: "FILE",
    help: "Write the verdicts as JUnit XML, for GitLab, Jenkins and GitHub: a test case for each assertion and level.",
  },
  {
    name: "markdown",
    file: "markdown",
    value: "FILE",
    help: "Write a summary in Markdown, for pull requests and $GITHUB_STEP_SUMMARY. - is standard output; the text then goes to stderr.",
  },
];

/** Reads the files of reports. An empty value is like a flag that was not given. @param problems receives files that cannot be written */
export function readReportFiles(flags: FlagValues, problems: Problem[]): OutputFilesPlan {
  const given = REPORT_FLAGS.map(({ name, file }) => [name, file, toOutputPath(flags.text(name))] as const);
  problems.push(...checkOutputFiles(given.map(([name, _file, path]) => [`--${name}`, path])));
  return Object.fromEntries(given.flatMap(([_name, file, path]) => ((path ?? "") === "" ? [] : [[file, path]])));
}
