import { type Problem, problem, UserError } from "../plan/problem.ts";
import { writeModelFiles } from "../report/model-files.ts";
import { readStoredReport } from "../report/stored-report.ts";
import { renderText, styleOf } from "../report/text/render-text.ts";
import { EXIT } from "../result/exit-codes.ts";
import { isFile, readFileText } from "../runtime/files.ts";
import { commandOf } from "./command-usage.ts";
import type { CommandIo } from "./execute.ts";
import { explainErrors } from "./explain-errors.ts";
import type { Flag, FlagValues } from "./flags.ts";
import { type HelpPage, printsHelp } from "./help/page.ts";
import { sharedOptions } from "./options/shared-options.ts";
import { routeTextAroundReports } from "./output-files.ts";
import { commandFlags, readFiles } from "./shared-flags.ts";

/** `rampart report FILE.json`: shows a stored report, and creates other formats from it. */

/** Its options. */
export const FLAGS: readonly Flag[] = commandFlags("report", []);

const OPTIONS = sharedOptions("report");

/** The command. */
export const COMMAND = commandOf(FLAGS, runReportCommand, { name: "REPORT", takes: "file" });

/** Runs the command. Returns the exit code. */
function runReportCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async (parse) => {
    const [given = ""] = parse(FLAGS, nameFiles(args, "report"), 1).positionals;
    const flags = parse(FLAGS, nameFiles(args, given), 1);
    if (printsHelp(flags, helpPage(command), io)) return EXIT.passed;
    const [path = ""] = flags.positionals;
    const problems: Problem[] = [...flags.problems];
    if (path === "") problems.push(problem("missing", "FILE", "is missing", hintFor(flags, command)));
    const files = readFiles(flags, OPTIONS, [path], problems);
    if (problems.length > 0) throw new UserError(problems);
    const model = readStoredReport(path, flags.has("verbose"));
    const out = routeTextAroundReports(io, files);
    out.out(renderText(model, { isVerbose: flags.has("verbose"), ...styleOf(out) }));
    await writeModelFiles(files, model, JSON.parse(readFileText(path)) as object);
    for (const file of args.flatMap((_, index) => defaultName(args, index, path) ?? [])) io.err(`wrote ${file}\n`);
    return EXIT.passed;
  });
}

/** Returns the arguments, with names beside the input added for files without a name. */
function nameFiles(args: readonly string[], input: string): string[] {
  return args.map((arg, index) => {
    const name = defaultName(args, index, input);
    return name === undefined ? arg : `${arg}=${name}`;
  });
}

/** Returns the default name of a file whose flag is the last argument or is followed by another flag. Undefined for all other arguments. */
function defaultName(args: readonly string[], index: number, input: string): string | undefined {
  const ending = OPTIONS.find(({ name }) => args[index] === `--${name}`)?.ending;
  const next = args[index + 1];
  const isNamed = next !== undefined && (next === "-" || !next.startsWith("-"));
  return ending === undefined || isNamed ? undefined : `${input.replace(/\.json$/i, "")}${ending}`;
}

/** The name after a flag is the name of its file, even if it was meant as the input. */
function hintFor(flags: FlagValues, command: string): string {
  const taken = OPTIONS.find(({ name, ending }) => ending !== undefined && isFile(flags.text(name) ?? ""));
  return taken === undefined
    ? "Give the JSON report of a run."
    : `--${taken.name} took ${flags.text(taken.name)}: write ${command} ${flags.text(taken.name)} --${taken.name}.`;
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} FILE.json [options]`],
    about: [
      "Shows a report again, and makes its page, its summary, its CSV and its JUnit file from the JSON that --json wrote: of a run, a sweep, ab, perTarget or several scenarios.",
    ],
    flags: FLAGS,
    examples: [`${command} run.json -v`, `${command} run.json --html`, `${command} run.json --markdown summary.md`],
    exitCodes: "0 shown, whatever the verdict is; 64 wrong usage or file, 74 a report could not be written.",
  };
}
