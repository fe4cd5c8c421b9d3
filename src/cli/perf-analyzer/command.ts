import { word } from "../../plan/messages.ts";
import { fieldOf } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Problem, RunError, UserError, wordProblem } from "../../plan/problem.ts";
import { withoutSecrets } from "../../plan/secrets.ts";
import { plural } from "../../plan/units.ts";
import { checkPlan } from "../../registry/check-plan.ts";
import { inputFilesOf } from "../../registry/input-files.ts";
import { outputFilesOf } from "../../report/output-place.ts";
import { NO_VALID_REQUESTS } from "../../report/perf-analyzer/reported-levels.ts";
import type { LaneError, RunResult } from "../../result/run-result.ts";
import { joinPeers } from "../../run/peers/join-peers.ts";
import { VERSION } from "../../runtime/this-program.ts";
import { type LoadedCommand, showOption } from "../command-usage.ts";
import { type CommandIo, type EndSignal, executePlan } from "../execute.ts";
import { inFleet } from "../in-fleet.ts";
import { formatRow } from "../options/help-rows.ts";
import { withPlanValues } from "../options/place.ts";
import { findDuplicatePaths, findReadOutputs, routeTextAroundReports } from "../output-files.ts";
import { withNames } from "../setting-names.ts";
import { KINDS, kindNameOf } from "./kinds/kinds.ts";
import { OPTIONS, parseOptions } from "./options/table.ts";
import { inPerfAnalyzer } from "./setting-names.ts";
import { type PerfAnalyzerOption, readSettings } from "./settings.ts";
import { toPlan } from "./to-plan.ts";

/** `rampart perf_analyzer …`, and the executable linked as `perf_analyzer`. */

const HELP_COLUMN = 44;
const WIDTH = 120;

/** Formats the help. @param command the command as it was called */
export function formatHelp(command: string): string {
  const groups = new Set(OPTIONS.map(({ group }) => group));
  return [
    `Usage: ${command} -m MODEL [flags]`,
    "",
    "Measures the throughput and latency of a model on an inference server. Takes the flags of NVIDIA's perf_analyzer and prints",
    "what it prints; flags may be abbreviated, and the last of repeated flags counts unless it says otherwise.",
    "",
    ...[...groups].map(formatGroup),
    "Exit codes: 0 measured, 2 first level not stable, 99 any other error.",
    "",
    "Examples:",
    `  ${command} -m resnet50 --concurrency-range 1:8`,
    `  ${command} -m resnet50 -i grpc -u gpu-host:8001 --request-rate-range 100 --request-distribution poisson --percentile 99`,
    `  ${command} -m resnet50 --input-data inputs.json --concurrency-range 1:64:4 -l 25 -f results.csv`,
    "",
  ].join("\n");
}

function formatGroup(group: string): string {
  const options = OPTIONS.filter((option) => option.group === group);
  return [`${group}:`, ...options.flatMap(formatOption), ""].join("\n");
}

function formatOption({ names, value, help, unit, defaultText, isRepeatable }: PerfAnalyzerOption): string[] {
  const shortFirst = names.toSorted((a, b) => a.length - b.length);
  const left = `${shortFirst.join(", ")}${value === undefined ? "" : ` ${value}`}`;
  const notes = [
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(defaultText === undefined ? [] : [`Default: ${defaultText}.`]),
    ...(isRepeatable === true ? ["May be repeated."] : []),
  ];
  return formatRow(left, [help, ...notes].join(" "), { column: HELP_COLUMN, width: WIDTH });
}

const SIGNAL_NUMBERS: Readonly<Record<EndSignal, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

const EXIT = { measured: 0, unstable: 2, error: 99 } as const;

/** The command. */
export const COMMAND: LoadedCommand = {
  usage: () => ({ options: OPTIONS.map((option) => showOption(option)) }),
  run: runPerfAnalyzer,
};

/** Runs the command. Returns the exit code. @param command the command as it was called, for help */
export async function runPerfAnalyzer(args: readonly string[], command: string, plainIo: CommandIo): Promise<number> {
  const io = withNames(plainIo, inPerfAnalyzer);
  const { settings, problems, warnings, lines } = readSettings(parseOptions(args));
  for (const line of lines) io.err(`${line}\n`);
  if (settings.isHelp) {
    io.out(formatHelp(command));
    return EXIT.measured;
  }
  if (settings.isVersion) {
    io.err(`Perf Analyzer Version ${VERSION} (rampart)\n`);
    return EXIT.measured;
  }
  const built = toPlan(settings);
  const outputs = outputFilesOf(built.plan);
  const clashes = [...findReadOutputs(outputs, inputFilesOf(built.plan)), ...findDuplicatePaths(outputs)].map(
    nameInMessage,
  );
  const allProblems = [...problems, ...built.problems, ...clashes];
  if (allProblems.length > 0) {
    printProblems(allProblems, command, io);
    return EXIT.error;
  }
  for (const warning of warnings) io.err(`rampart: ${warning}\n`);
  for (const warning of built.warnings) io.err(`${warning}\n`);
  try {
    if (settings.given.has("--dry-run")) return await showPlan(built.plan, io);
    if (built.plan.client.fleet === undefined) return await measure(built.plan, io);
    return await inFleet(new Map(), io, (values) => measure(withPlanValues(built.plan, values), io));
  } catch (error) {
    return explain(error, io);
  }
}

async function showPlan(plan: Plan, io: CommandIo): Promise<number> {
  checkPlan(plan);
  io.out(`${JSON.stringify(withoutSecrets(plan), null, 2)}\n`);
  return EXIT.measured;
}

async function measure(plan: Plan, io: CommandIo): Promise<number> {
  const reportIo = routeTextAroundReports(io, plan.outputs.files);
  const peers = await joinPeers(plan.client.isMpi, (line) => io.err(`${word(line, io.nameOf)}\n`));
  try {
    const onInterrupt = (signal: EndSignal): void =>
      reportIo.out(
        `Interrupt signal (${SIGNAL_NUMBERS[signal]}) received.\nWaiting for in-flight inferences to complete.\n`,
      );
    const { result, outputError } = await executePlan(plan, reportIo, { onInterrupt, peers, isUnchecked: true });
    const code = conclude(result, io);
    return outputError === undefined ? code : explain(outputError, io);
  } catch (error) {
    // Print before the peers are closed, because that may end this process.
    return explain(error, io);
  } finally {
    // mpirun ends all ranks when the first one exits with an error. By then, all have printed their output.
    await peers.close();
  }
}

/** Adds the option's name to the message, because the messages of perf_analyzer's rules begin with it. */
function nameInMessage(problem: Problem): Problem {
  return { ...problem, message: [problem.path, " ", problem.message] };
}

function printProblems(problems: readonly Problem[], command: string, io: CommandIo): void {
  for (const problem of problems) {
    const { message, value, hint } = wordProblem(problem, io.nameOf);
    const isSaid = value === undefined || message.includes(`'${value}'`) || message.endsWith(`: ${value}`);
    const got = isSaid ? "" : ` (got '${value}')`;
    io.err(`Error: ${message}${got}\n  ${hint}\n`);
  }
  io.err(`See ${command} --help.\n`);
}

function conclude(result: RunResult, io: CommandIo): number {
  if (result.error !== undefined) {
    const error = wordLikeOriginal(result.error);
    if (result.laneErrors.length > 0) printLaneErrors(result, error, io);
    else printRunError(error, io);
    return EXIT.error;
  }
  if (result.isInterrupted) {
    io.err("rampart: interrupted; the results above are partial.\n");
    return EXIT.error;
  }
  if (result.completedCount === 0) {
    io.err(
      `error: ${plural(result.failedCount, "the only request", `all ${result.failedCount} requests`)} failed: ${result.failures[0]?.example ?? ""}\n`,
    );
    if (result.hint !== undefined) io.err(`  ${result.hint}\n`);
    return EXIT.error;
  }
  const first = result.levels[0];
  const isBinary = fieldOf(result.prepared.plan.load, "search") === "binary";
  // Like in perf_analyzer, an unstable level is an error only if no level was measured before it.
  if (!isBinary && result.levels.length === 1 && first?.outcome === "unstable") {
    io.err("Failed to obtain stable measurement.\n\n");
    return EXIT.unstable;
  }
  return EXIT.measured;
}

function printLaneErrors(result: RunResult, { message: reason, hint }: RunError, io: CommandIo): void {
  const isAsync = result.prepared.callMode === "async";
  io.err(
    isAsync
      ? "Failed to retrieve results from inference request.\n"
      : "Failed to maintain requested inference load. Worker thread(s) failed to generate concurrent requests.\n",
  );
  for (const error of result.laneErrors) io.err(`Thread [${error.lane}] had error: ${wordLaneError(error, result)}\n`);
  if (!result.laneErrors.some(({ message }) => message === reason)) io.err(`rampart: ${reason}\n`);
  io.err(`\n${word(hint, io.nameOf)}\n`);
}

/** Formats a failure like perf_analyzer's client for the kind of service. */
function wordLaneError(error: LaneError, { prepared }: RunResult): string {
  const kind = KINDS[kindNameOf(prepared.plan) ?? ""];
  return kind?.wordFailure?.(error) ?? error.message;
}

function explain(error: unknown, io: CommandIo): number {
  if (error instanceof UserError) {
    for (const problem of error.problems) {
      const { path, message, value, hint } = wordProblem(problem, io.nameOf);
      const got = value === undefined ? "" : ` (got ${value})`;
      io.err(`error: Failed to init manager inputs: ${path}: ${message}${got}\n  ${hint}\n`);
    }
    return EXIT.error;
  }
  if (error instanceof RunError) {
    printRunError(wordLikeOriginal(error), io);
    return EXIT.error;
  }
  throw error;
}

function printRunError({ text, hint }: RunError, io: CommandIo): void {
  io.err(`error: ${word(text, io.nameOf)}\n  ${word(hint, io.nameOf)}\n`);
}

/** Replaces the error's message by perf_analyzer's where scripts may search for it. */
function wordLikeOriginal(error: RunError): RunError {
  if (error.facts.stage === "shared-memory") return error.reword(["Unable to init infer data manager: ", error.text]);
  if (error.code !== "no-valid-requests") return error;
  return error.reword(NO_VALID_REQUESTS, { say: "no-request-ends" });
}
