import { type Problem, problem, UserError } from "../plan/problem.ts";
import { writeReport } from "../report/output-file.ts";
import { readStoredReport, STORED_FORMATS } from "../report/stored-report.ts";
import { renderText } from "../report/text/render-text.ts";
import { EXIT } from "../result/exit-codes.ts";
import { commandOf } from "./command-usage.ts";
import type { CommandIo } from "./execute.ts";
import { explainErrors } from "./explain-errors.ts";
import { type Flag, formatFlags, parseFlags } from "./flags.ts";
import { sharedOptions } from "./options/shared-options.ts";
import { routeTextAroundReports } from "./output-files.ts";
import { commandFlags, readFiles } from "./shared-flags.ts";

/** `rampart report FILE.json`: shows a stored report, and makes others from it. */

/** Its options. */
export const FLAGS: readonly Flag[] = commandFlags("report", []);

/** The command. */
export const COMMAND = commandOf(FLAGS, runReportCommand, { name: "REPORT", takes: "file" });

/** Runs the command. Returns the exit code. */
export function runReportCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 1);
    if (flags.has("help")) {
      io.out(formatHelp(command));
      return EXIT.passed;
    }
    const [path = ""] = flags.positionals;
    const problems: Problem[] = [...flags.problems];
    if (path === "") problems.push(problem("missing", "FILE", "is missing", "Give the JSON report of a run."));
    const files = readFiles(flags, sharedOptions("report"), [path], problems);
    if (problems.length > 0) throw new UserError(problems);
    const model = readStoredReport(path);
    const out = routeTextAroundReports(io, files);
    out.out(renderText(model, { isVerbose: flags.has("verbose"), hasColor: out.hasColor, nameOf: out.nameOf }));
    for (const [key, render] of Object.entries(STORED_FORMATS)) {
      const file = files[key as keyof typeof STORED_FORMATS];
      if (file !== undefined)
        writeReport(file, await render(model), `outputs.files.${key as keyof typeof STORED_FORMATS}`, false);
    }
    return EXIT.passed;
  });
}

function formatHelp(command: string): string {
  return [
    `Usage: ${command} FILE.json [options]`,
    "",
    "Shows the report of a run again, and makes its page, its summary, its CSV and its JUnit file from the JSON that --json wrote.",
    "",
    "Options:",
    formatFlags(FLAGS),
    "",
    "Examples:",
    `  ${command} report.json -v`,
    `  ${command} report.json --html report.html --markdown summary.md`,
    "",
    "Exit codes: 0 shown, whatever the verdict is; 64 wrong usage or file, 74 a report could not be written.",
    "",
  ].join("\n");
}
