import { ONLY_ONE, userError } from "../plan/problem.ts";
import { maskText } from "../plan/secrets.ts";
import { escapeControls } from "../plan/terminal-text.ts";
import { EXIT } from "../result/exit-codes.ts";
import type { Answers } from "../wizard/answers.ts";
import { Interview, type InterviewMode } from "../wizard/interview.ts";
import type { Question } from "../wizard/question.ts";
import { QUESTIONS } from "../wizard/questions.ts";
import { filesOf, type WrittenFile } from "../wizard/scenario-text.ts";
import type { CommandIo } from "./execute.ts";
import { flagCommand } from "./explain-errors.ts";
import { type Flag, type FlagValues, HELP_FLAGS } from "./flags.ts";
import type { HelpPage } from "./help/page.ts";
import { describeCommandLine } from "./init-command-lines.ts";
import { runScenarioCommand } from "./run.ts";
import { writeNewScenario } from "./scenarios/new-scenario.ts";
import { sharedFlags } from "./shared-flags.ts";

/** `rampart init`: asks questions, writes a scenario, prints equivalent flags, and offers to run it. */

/** Its options. */
export const FLAGS: readonly Flag[] = [
  ...QUESTIONS.flatMap(toFlags),
  {
    name: "no-server",
    help: "Write the scenario without asking the server and without loading the tokenizer. --model names the model.",
  },
  { name: "run", isCommon: true, help: "Run the scenario without asking." },
  { name: "no-run", help: "Do not run the scenario." },
  { name: "yes", short: "y", isCommon: true, help: "Take the default of every question that no option answers." },
  ...HELP_FLAGS,
];

/** Returns the options of a question: one, or none. Options shared with other commands are in the common table. */
function toFlags({ id, value, help }: Question): Flag[] {
  const shared = sharedFlags("init").filter(({ name }) => name === id);
  if (help === undefined) return shared;
  const isShown = ["target", "goal"].includes(id);
  return [{ name: id, help, ...(value && { value }), ...(isShown && { isCommon: true }) }];
}

/** The command. */
export const COMMAND = flagCommand({ page: helpPage, run: runInitCommand });

/** Runs the command. Returns the exit code. */
async function runInitCommand(flags: FlagValues, io: CommandIo): Promise<number> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const mode: InterviewMode = flags.has("yes") ? "defaults" : isTerminal ? "ask" : "refuse";
  const answers = await new Interview({
    mode,
    given: readFlags(flags),
    problems: flags.problems,
    isOffline: flags.has("no-server"),
    say: (text) => io.out(`${escapeControls(maskText(text))}\n`),
  }).complete();
  if (answers !== undefined) return conclude(answers, io);
  io.err("rampart: ended, nothing was written\n");
  return EXIT.interrupted;
}

function readFlags(flags: FlagValues): Answers {
  const answers: Record<string, string> = {};
  for (const { id } of QUESTIONS) {
    if (id === "address") continue;
    const text = flags.text(id)?.trim();
    if (text !== undefined) answers[id] = text;
  }
  if (flags.has("run") && flags.has("no-run")) {
    throw userError("conflict", "--no-run", "contradicts --run", ONLY_ONE);
  }
  if (flags.has("run")) answers["run"] = "yes";
  if (flags.has("no-run")) answers["run"] = "no";
  return answers;
}

async function conclude(answers: Answers, io: CommandIo): Promise<number> {
  const files = filesOf(answers);
  for (const { path, text } of files) writeNewScenario(path, text);
  for (const { path, text } of files) io.out(`\nwrote ${path}:\n\n${text}`);
  const commandLine = describeCommandLine(answers);
  if (commandLine !== "") io.out(`\n${commandLine}`);
  const runs = runsOf(files);
  const follow = files.length > 1 ? [`rampart compare ${runs.map(([, , json]) => json).join(" ")}`] : [];
  if (answers.run !== "yes") {
    const [only] = runs.length === 1 ? runs : [];
    if (only === undefined) io.out(`\n${describeRuns(runs, follow)}\n`);
    else io.out(`\nrun it with: rampart run ${only.join(" ")}\n`);
    return EXIT.passed;
  }
  io.out("\n");
  let code: number = EXIT.passed;
  for (const args of runs) {
    const runCode = await runScenarioCommand(args, "rampart run", io);
    if (runCode === EXIT.interrupted) return runCode;
    if (code === EXIT.passed) code = runCode;
  }
  for (const command of follow) io.out(`\ncompare them with: ${command}\n`);
  return code;
}

function describeRuns(runs: readonly (readonly string[])[], follow: readonly string[]): string {
  const commands = [...runs.map((args) => `rampart run ${args.join(" ")}`), ...follow];
  return ["run them, and compare them, with:", ...commands].join("\n  ");
}

/** Returns the arguments of each run. Runs that will be compared write reports. */
function runsOf(files: readonly WrittenFile[]): string[][] {
  if (files.length === 1) return files.map(({ path }) => [path]);
  return files.map(({ path }) => [path, "--json", path.replace(/\.m?ts$/, ".json")]);
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} [options]`],
    about: [
      "Writes a scenario: finds out what answers at the address, asks for the model and the goal and what the goal needs, says how long the run will take, writes the file, prints a command line that measures the same where there is one, and offers to run it. Every question can be answered by an option. Without a terminal nothing is asked.",
    ],
    flags: FLAGS,
    examples: [
      `${command} --yes          a scenario that needs no server, and run it`,
      `${command} --url gpu-host:8000 --goal limit --users 64 --p99-limit 30ms`,
      `${command} --url gpu-host:8000 --model resnet50 --other-model resnet50-int8`,
      `${command} --target openai --url gpu-host:8000 --tokenizer ./tokenizer`,
    ],
  };
}
