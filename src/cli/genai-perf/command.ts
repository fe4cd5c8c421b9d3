import { word } from "../../plan/messages.ts";
import { type Problem, problem, RunError, UserError, wordError, wordProblem } from "../../plan/problem.ts";
import type { Peers } from "../../run/peers/peers.ts";
import { VERSION } from "../../runtime/this-program.ts";
import { type CommandUsage, type LoadedCommand, type ShownOption, showArgparseOption } from "../command-usage.ts";
import type { CommandIo } from "../execute.ts";
import { inFleet } from "../in-fleet.ts";
import { withNames } from "../setting-names.ts";
import { runAnalyze } from "./analyze/run-analyze.ts";
import { openCheckpoint, runKeptProfile } from "./checkpoint/open-checkpoint.ts";
import { dryRun, dryRunSweep } from "./dry-run.ts";
import { ABOUT, defaultOf, formatHelp } from "./help.ts";
import { resolveInputFormat } from "./input-format.ts";
import { mergeExports } from "./merge/merge-exports.ts";
import type { Asked } from "./options/asked.ts";
import { describeOption, type GenaiFlag } from "./options/genai-option.ts";
import { type GivenCommand, HELP_FLAG, type ParsedCommand, parseCommand, TOP_FLAGS } from "./options/parse.ts";
import { isEmpty } from "./options/passed-flags.ts";
import { sharedKeyOf } from "./options/shared.ts";
import { flagsOf, SUBCOMMANDS, type SubcommandName } from "./options/subcommands.ts";
import { checkPassed, findPassedProblems } from "./plan/passed-plan.ts";
import { planProfile, planRun } from "./plan/plan-profile.ts";
import { planSweep } from "./plan/plan-sweep.ts";
import { isOfRanks, runAsRank } from "./profile/rank-run.ts";
import { runProfile } from "./profile/run-profile.ts";
import { findFurther, readSettings } from "./read-settings.ts";
import { withoutConsequences } from "./rules/consequences.ts";
import { inGenaiPerf } from "./setting-names.ts";
import { writeTemplate } from "./template.ts";
import { formatUsageError } from "./usage.ts";

/** `rampart genai-perf …`, and the executable linked as `genai-perf`. */

const FILES: readonly GenaiFlag["kind"][] = ["path", "file"];

/** Returns the arguments of genai-perf mode. */
function describeOptions(): CommandUsage {
  return {
    options: TOP_FLAGS.map(show),
    subcommands: SUBCOMMANDS.map((name) => ({
      name,
      summary: ABOUT[name],
      options: [HELP_FLAG, ...flagsOf(name)].map(show),
    })),
  };
}

function show(flag: GenaiFlag): ShownOption {
  const fallback = defaultOf(flag);
  const choices = flag.choices && [...flag.choices, ...(flag.ownChoices ?? [])];
  const { defaultText: _default, unit: _unit, ...rest } = flag;
  const described = { ...rest, help: describeOption(flag), ...(choices && { choices }) };
  return showArgparseOption(
    fallback === undefined ? described : { ...described, defaultText: fallback },
    FILES.includes(flag.kind),
  );
}

/** Exit codes of genai-perf. `failed` includes runs in which more requests failed than allowed, which still write their report. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** The command. */
export const COMMAND: LoadedCommand = { usage: describeOptions, run: runGenaiPerf };

/** Runs the command. Returns the exit code: 0 success, 1 failure, 2 usage error. */
export async function runGenaiPerf(args: readonly string[], _command: string, plainIo: CommandIo): Promise<number> {
  const io = withNames(plainIo, inGenaiPerf);
  const parsed = parseCommand(args);
  switch (parsed.kind) {
    case "help":
      io.out(formatHelp(parsed.subcommand));
      return EXIT.done;
    case "version":
      io.out(`genai-perf ${VERSION} (rampart)\n`);
      return EXIT.done;
    case "usage":
      return describeUsage(parsed, io);
    case "command":
      return explain(io, () => runSubcommand(parsed, io));
  }
}

/** Reports all problems of an invalid command line at once. */
function describeUsage(usage: ParsedCommand & { readonly kind: "usage" }, io: CommandIo): number {
  const { recognised } = usage;
  const read = recognised === undefined ? undefined : readSettings(recognised);
  const wrong = [...usage.problems, ...(read?.kind === "usage" ? read.problems : [])];
  const further = read === undefined ? [] : findFurther(read);
  io.err(formatUsageError(usage.subcommand, wrong));
  if (recognised === undefined) return EXIT.usage;
  const all = [...further, ...findPassedBeside(recognised, further)];
  for (const problem of withoutConsequences(all, wrong, recognised.subcommand)) io.err(formatProblem(problem));
  return EXIT.usage;
}

/** Finds problems with flags after `--` that do not depend on the settings, when the settings are invalid too. */
function findPassedBeside({ subcommand, passed }: GivenCommand, known: readonly Problem[]): readonly Problem[] {
  if (isEmpty(passed)) return [];
  if (!isMeasuring(subcommand)) return [nothingToPass(subcommand)];
  return findPassedProblems(passed).filter(({ message }) => known.every((one) => one.message !== message));
}

async function runSubcommand(parsed: GivenCommand, io: CommandIo): Promise<number> {
  const read = readSettings(parsed);
  if (read.kind === "usage") return describeUsage({ ...read, problems: [], recognised: parsed }, io);
  if (read.kind === "config") throw new UserError([...read.problems, ...findPassedBeside(parsed, read.problems)]);
  const { subcommand, passed } = read.asked;
  for (const warning of read.warnings) io.err(`rampart: ${warning}\n`);
  if (!isEmpty(parsed.passed) && !isMeasuring(subcommand)) throw new UserError([nothingToPass(subcommand)]);
  if (subcommand === "create-template") {
    const path = read.asked.get("-f");
    writeTemplate(path, read.asked.get("-v"));
    io.out(`Template created: ${path}\n`);
    return EXIT.done;
  }
  const asked = read.asked.with({ "rampart.input_format": await resolveInputFormat(read.asked.input) });
  for (const warning of checkPassed(asked)) io.err(`rampart: ${warning}\n`);
  const run = async (whole: Asked, peers?: Peers): Promise<number> =>
    (await runAsked(whole, io, peers)) ? EXIT.done : EXIT.failed;
  if (asked.isDryRun) return run(asked);
  if (asked.values.get(sharedKeyOf("fleet")) !== "")
    return inFleet(new Map(), io, (values) => explain(io, () => run(asked.withPlanValues(values))));
  if (!isOfRanks(passed)) return run(asked);
  return runAsRank(severalRunsOf(asked), io, (peers) => explain(io, () => run(asked, peers)));
}

/** Returns the reason why the command has several runs; undefined if it has one. */
function severalRunsOf(asked: Asked): string | undefined {
  if (asked.subcommand === "analyze") return asked.subcommand;
  return asked.get("output.enable_checkpointing") ? "--enable-checkpointing" : undefined;
}

/** Returns whether the command succeeded. */
async function runAsked(asked: Asked, io: CommandIo, peers?: Peers): Promise<boolean> {
  const { subcommand } = asked;
  if (subcommand === "process-export-files") return mergeExports(asked, io);
  const sweep = subcommand === "analyze" ? planSweep(asked) : undefined;
  if (asked.isDryRun) {
    await (sweep === undefined ? dryRun(planProfile(asked), io) : dryRunSweep(sweep, io));
    return true;
  }
  const isKept = asked.get("output.enable_checkpointing");
  const folder = isKept ? asked.get("output.checkpoint_directory") : undefined;
  const openKept = () => openCheckpoint(asked.get("model_names")[0] ?? "", folder, io);
  if (sweep !== undefined) return runAnalyze(sweep, await openKept(), io);
  if (isKept) return runKeptProfile(planRun(asked), await openKept(), io);
  const suffix = peers !== undefined && peers.count > 1 ? `-rank${peers.rank}` : "";
  return (await runProfile(planRun(asked, { suffix }), io, { peers })).isPassed;
}

function isMeasuring(subcommand: SubcommandName): boolean {
  return subcommand !== "create-template" && subcommand !== "process-export-files";
}

function nothingToPass(subcommand: SubcommandName): Problem {
  const message = `flags of perf_analyzer after -- cannot be used with ${subcommand}, which measures nothing`;
  return problem("unsupported", "--", message, "Leave them out.");
}

/** Converts errors that a user can fix to text and exit code 1, all at once. */
async function explain(io: CommandIo, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (thrown) {
    const error = wordError(thrown, io.nameOf);
    if (error instanceof UserError) for (const problem of error.problems) io.err(formatProblem(problem));
    else if (error instanceof RunError) io.err(`Error: ${error.message}\n  ${word(error.hint)}\n`);
    else throw error;
    return EXIT.failed;
  }
}

function formatProblem(problem: Problem): string {
  const { path, message, value, hint } = wordProblem(problem, inGenaiPerf);
  const got = value === undefined || message.includes(value) ? "" : ` (got '${value}')`;
  const where = path === "" || message.includes(path) ? "" : `${path}: `;
  return `Error: ${where}${message}${got}\n  ${hint}\n`;
}
