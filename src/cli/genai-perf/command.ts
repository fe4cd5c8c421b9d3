import { type Problem, RunError, UserError } from "../../plan/problem.ts";
import type { CommandIo } from "../execute.ts";
import { VERSION } from "../version.ts";
import { EXIT } from "./exit-codes.ts";
import { readValues } from "./flag-values.ts";
import { formatHelp } from "./help.ts";
import { resolveInputFormat } from "./input-format.ts";
import { type GivenFlag, type ParsedCommand, parseCommand } from "./parse.ts";
import { checkPassed } from "./profile/passed-plan.ts";
import { findLater } from "./profile/refusals.ts";
import { runProfile } from "./profile/run-profile.ts";
import { readSettings } from "./read-settings.ts";
import type { GenaiSettings } from "./settings.ts";
import type { GivenSettings } from "./settings-builder.ts";
import { writeTemplate } from "./template.ts";
import { formatUsageError } from "./usage.ts";

/** `rampart genai-perf …`, and the executable linked as `genai-perf`. */

/** Runs the command. Returns the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runGenaiPerf(args: readonly string[], _command: string, io: CommandIo): Promise<number> {
  const parsed = parseCommand(args);
  switch (parsed.kind) {
    case "help":
      io.out(formatHelp(parsed.subcommand));
      return EXIT.done;
    case "version":
      io.out(`genai-perf ${VERSION} (rampart)\n`);
      return EXIT.done;
    case "usage":
      io.err(formatUsageError(parsed.subcommand, [...parsed.problems, ...findWrongValues(parsed.given)]));
      return EXIT.usage;
    case "command":
      return explain(io, () => runSubcommand(parsed, io));
  }
}

/** What else is wrong on a command line that can not be run: the user shall not have to come again for it. */
function findWrongValues(given: readonly GivenFlag[]): Problem[] {
  return given.flatMap((one) => readValues(one).problem ?? []);
}

async function runSubcommand(parsed: ParsedCommand & { readonly kind: "command" }, io: CommandIo): Promise<number> {
  const read = readSettings(parsed);
  if (read.kind === "usage") {
    io.err(formatUsageError(read.subcommand, read.problems));
    return EXIT.usage;
  }
  if (read.kind === "config") throw new UserError(read.problems);
  const { settings, given, later, warnings } = read;
  for (const warning of warnings) io.err(`rampart: ${warning}\n`);
  if (parsed.passThrough.length > 0 && !isMeasuring(settings)) throw new UserError([nothingToPass(settings)]);
  if (settings.subcommand === "create-template") {
    writeTemplate(settings.templateFile, settings.isVerbose);
    io.out(`Template created: ${settings.templateFile}\n`);
    return EXIT.done;
  }
  const problems = findLater(settings, later);
  if (problems.length > 0) throw new UserError(problems);
  const resolved = await resolveInputFormat(settings);
  for (const warning of await checkPassed(resolved, given)) io.err(`rampart: ${warning}\n`);
  return (await runAsked(resolved, given, io)) ? EXIT.done : EXIT.failed;
}

/** Returns whether all went well. What a plain profile does not need is loaded where it is needed. */
async function runAsked(settings: GenaiSettings, given: GivenSettings, io: CommandIo): Promise<boolean> {
  if (settings.subcommand === "process-export-files") {
    const { mergeExports } = await import("./merge/merge-exports.ts");
    return mergeExports(settings, io);
  }
  if (settings.rampart.isDryRun) {
    const { dryRun } = await import("./dry-run.ts");
    await dryRun(settings, given, io);
    return true;
  }
  if (settings.subcommand === "analyze") {
    const { runAnalyze } = await import("./analyze/run-analyze.ts");
    return runAnalyze(settings, given, io);
  }
  if (settings.output.isCheckpointing) {
    const { runKeptProfile } = await import("./checkpoint/keep.ts");
    return runKeptProfile(settings, given, io);
  }
  return (await runProfile(settings, given, io)).isPassed;
}

function isMeasuring({ subcommand }: GenaiSettings): boolean {
  return subcommand !== "create-template" && subcommand !== "process-export-files";
}

function nothingToPass({ subcommand }: GenaiSettings): Problem {
  const message = `flags of perf_analyzer after -- have no meaning with ${subcommand}, which measures nothing`;
  return { path: "--", message, hint: "Leave them out." };
}

/** What a user can mend becomes text and exit code 1, everything at once. */
async function explain(io: CommandIo, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof UserError) for (const problem of error.problems) io.err(formatProblem(problem));
    else if (error instanceof RunError) io.err(`Error: ${error.message}\n  ${error.hint}\n`);
    else throw error;
    return EXIT.failed;
  }
}

function formatProblem({ path, message, value, hint }: Problem): string {
  const got = value === undefined || message.includes(value) ? "" : ` (got '${value}')`;
  const where = path === "" || message.includes(path) ? "" : `${path}: `;
  return `Error: ${where}${message}${got}\n  ${hint}\n`;
}
