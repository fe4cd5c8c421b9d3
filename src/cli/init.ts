import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, RunError, userError } from "../plan/problem.ts";
import { maskText } from "../plan/secrets.ts";
import { escapeControls } from "../plan/terminal-text.ts";
import { writeOutput } from "../report/output-file.ts";
import { toPlan } from "../scenario/to-plan.ts";
import type { Answers } from "../wizard/answers.ts";
import { Interview, type Manner } from "../wizard/interview.ts";
import { QUESTIONS } from "../wizard/questions.ts";
import { formatScenario, toScenario } from "../wizard/scenario-text.ts";
import { PROMPTS, type WizardTarget, wizardTargetOf } from "../wizard/targets.ts";
import type { CommandIo } from "./execute.ts";
import { EXIT } from "./exit-codes.ts";
import { explainErrors } from "./explain.ts";
import { type Flag, type FlagValues, formatFlags, HELP_FLAG, parseFlags } from "./flags.ts";
import { toFlags } from "./perf-analyzer/to-flags.ts";
import { runScenarioCommand } from "./run.ts";

/** `rampart init`: asks questions, writes a scenario, prints equivalent flags, and offers to run it. */

/** Its options. */
export const FLAGS: readonly Flag[] = [
  ...QUESTIONS.filter(({ help }) => help !== "").map(({ id, value, help }) => ({ name: id, value, help })),
  {
    name: "no-server",
    help: "Write the scenario without asking the server and without loading the tokenizer. Needs --model.",
  },
  { name: "run", help: "Run the scenario without asking." },
  { name: "no-run", help: "Do not run the scenario." },
  { name: "yes", short: "y", help: "Take the default of every question that no option answers." },
  HELP_FLAG,
];

/** Runs the command. Returns the exit code. */
export async function runInitCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 0);
    if (flags.has("help")) {
      io.out(formatHelp(command));
      return EXIT.passed;
    }
    const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
    const manner: Manner = flags.has("yes") ? "defaults" : isTerminal ? "ask" : "refuse";
    const answers = await new Interview({
      manner,
      given: readFlags(flags),
      problems: flags.problems,
      isOffline: flags.has("no-server"),
      say: (text) => io.out(`${escapeControls(maskText(text))}\n`),
    }).complete();
    if (answers !== undefined) return conclude(answers, io);
    io.err("rampart: ended, nothing was written\n");
    return EXIT.interrupted;
  });
}

function readFlags(flags: FlagValues): Answers {
  const answers: Record<string, string> = {};
  for (const { id } of QUESTIONS) {
    if (id === "address") continue;
    const text = flags.text(id)?.trim();
    if (text !== undefined) answers[id] = text;
  }
  if (flags.has("run") && flags.has("no-run")) {
    throw userError("conflict", "--no-run", "contradicts --run", "Give one of them.");
  }
  if (flags.has("run")) answers["run"] = "yes";
  if (flags.has("no-run")) answers["run"] = "no";
  return answers;
}

async function conclude(answers: Answers, io: CommandIo): Promise<number> {
  const file = answers.out as string;
  const text = formatScenario(answers);
  const target = wizardTargetOf(answers);
  const isOwn = target?.probe === undefined && target?.listModels === undefined;
  const flags = COMMAND_LINES[target?.commandLine ?? "perf_analyzer"](answers, isOwn);
  try {
    mkdirSync(dirname(file), { recursive: true });
    // Do not overwrite a file that was created in the meantime.
    writeOutput(file, text, { isNew: true, mode: 0o755 });
  } catch (error) {
    const isDiskFull = ["ENOSPC", "EDQUOT", "EIO"].includes((error as { code?: string }).code ?? "");
    if (isDiskFull) throw new RunError("output", `${file} cannot be written: ${messageOf(error)}`, "Is the disk full?");
    throw userError("unwritable", "--out", messageOf(error), "Choose a file in a folder that can be written.", file);
  }
  io.out(`\nwrote ${file}:\n\n${text}\n${flags}\n`);
  if (answers.run !== "yes") {
    io.out(`run it with: rampart run ${file}\n`);
    return EXIT.passed;
  }
  return runScenarioCommand([file], "rampart run", io);
}

/** The closest command line to a scenario, by its command. */
const COMMAND_LINES: Readonly<Record<WizardTarget["commandLine"], (answers: Answers, isOwn: boolean) => string>> = {
  perf_analyzer: describeFlags,
  "genai-perf": describeProfile,
  http: describeHttp,
};

/** Returns the command line of perf_analyzer mode that measures the same. @param isOwn whether the target must be started first */
function describeFlags(answers: Answers, isOwn: boolean): string {
  const { args, notes } = toFlags(toPlan(toScenario(answers), process.cwd()));
  return [
    "the same by flags:",
    ...(isOwn ? ["  rampart mock &"] : []),
    `  rampart perf_analyzer ${args.map(quote).join(" ")}`,
    ...notes.map((note) => `  (${note})`),
    "",
  ].join("\n");
}

/** Returns the closest command line of genai-perf mode. */
function describeProfile({ model = "", url = "", tokenizer = model, load, levels = "" }: Answers): string {
  const [level = ""] = levels.split(":");
  const args = [
    ...["-m", model, "-u", url, "--tokenizer", tokenizer, "--endpoint-type", "chat", "--streaming"],
    ...["--synthetic-input-tokens-mean", String(PROMPTS.isl), "--output-tokens-mean", String(PROMPTS.osl)],
    ...[load === "rate" ? "--request-rate" : "--concurrency", level],
  ];
  return [
    "nearly the same by flags:",
    `  rampart genai-perf profile ${args.map(quote).join(" ")}`,
    "  (it has one level, sends a number of requests, and has no assertions)",
    "",
  ].join("\n");
}

/** Returns the closest command line of `rampart http`. */
function describeHttp({ url = "", path = "", load, levels = "", for: time = "stable" }: Answers): string {
  const [level = ""] = levels.split(":");
  const address = path === "" || path === "/" ? url : `${url.replace(/\/$/, "")}${path}`;
  const extent = time === "stable" ? [] : ["--for", time.replace(/\s/g, "")];
  const args = [address, load === "rate" ? "--rate" : "--concurrency", level, ...extent];
  return [
    "nearly the same by flags:",
    `  rampart http ${args.map(quote).join(" ")}`,
    "  (it has one level, and no assertion on latency)",
    "",
  ].join("\n");
}

/** Quotes for a POSIX shell. */
function quote(word: string): string {
  return /^[\w./:=,@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function formatHelp(command: string): string {
  return [
    `Usage: ${command} [options]`,
    "",
    "Writes a scenario: finds out what answers at the address, asks a few questions, writes the file, prints a command line that measures the same,",
    "and offers to run it. Every question can be answered by an option. Without a terminal nothing is asked.",
    "",
    "Options:",
    formatFlags(FLAGS),
    "",
    "Examples:",
    `  ${command} --yes                        a scenario that needs no server, and run it`,
    `  ${command} --url gpu-host:8000 --model resnet50`,
    `  ${command} --target openai --url gpu-host:8000 --tokenizer ./tokenizer`,
    "",
  ].join("\n");
}
