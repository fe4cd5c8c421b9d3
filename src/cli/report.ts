import { type Problem, problem, UserError } from "../plan/problem.ts";
import { writeReport } from "../report/output-file.ts";
import { readStoredReport, STORED_FORMATS } from "../report/stored-report.ts";
import { renderText } from "../report/text/render-text.ts";
import { EXIT } from "../result/exit-codes.ts";
import { commandOf } from "./command-usage.ts";
import type { CommandIo } from "./execute.ts";
import { explainErrors } from "./explain-errors.ts";
import { type Flag, parseFlags } from "./flags.ts";
import { type HelpPage, printsHelp } from "./help/page.ts";
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
    if (printsHelp(flags, helpPage(command), io)) return EXIT.passed;
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

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} FILE.json [options]`],
    about: [
      "Shows the report of a run again, and makes its page, its summary, its CSV and its JUnit file from the JSON that --json wrote.",
    ],
    flags: FLAGS,
    examples: [`${command} run.json -v`, `${command} run.json --html run.html --markdown summary.md`],
    exitCodes: "0 shown, whatever the verdict is; 64 wrong usage or file, 74 a report could not be written.",
  };
}
