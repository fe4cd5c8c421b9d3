import { existsSync } from "node:fs";
import { messageOf, type Problem, RunError, UserError } from "../plan/problem.ts";
import { DEFAULT_TLS } from "../plan/tls.ts";
import { DEFAULT_TRITON_TARGET } from "../plan/triton-target.ts";
import type { ServerTargetPlan } from "../registry/service-kinds.ts";
import { writeOutput } from "../report/output-file.ts";
import { probeModels } from "../run/probe.ts";
import type { Scenario } from "../scenario/define.ts";
import { toPlan } from "../scenario/to-plan.ts";
import type { ListedModel } from "../service/service.ts";
import {
  type Answers,
  nextQuestion,
  QUESTIONS,
  type Question,
  type QuestionId,
  type Surroundings,
} from "../wizard/questions.ts";
import { formatScenario, PROMPTS, toScenario } from "../wizard/scenario-text.ts";
import type { CommandIo } from "./execute.ts";
import { EXIT } from "./exit-codes.ts";
import { explainErrors } from "./explain.ts";
import { type Flag, type FlagValues, formatFlags, HELP_FLAG, parseFlags } from "./flags.ts";
import { toFlags } from "./perf-analyzer/to-flags.ts";
import { runScenarioCommand } from "./run.ts";

/** `rampart init`: asks, writes a scenario, prints the flags that do the same, and offers to run it. */

const FLAGS: readonly Flag[] = [
  ...QUESTIONS.filter(({ id }) => id !== "run").map(({ id, value, help }) => ({ name: id, value, help })),
  { name: "run", help: "Run the scenario without asking." },
  { name: "no-run", help: "Do not run the scenario." },
  { name: "yes", short: "y", help: "Take the default of every question that no flag answers." },
  HELP_FLAG,
];

/** How questions that no flag answers are met. */
type Manner = "ask" | "defaults" | "refuse";

/** The command. Returns the exit code. */
export async function runInitCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 0);
    if (flags.has("help")) {
      io.out(formatHelp(command));
      return EXIT.passed;
    }
    const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
    const manner: Manner = flags.has("yes") ? "defaults" : isTerminal ? "ask" : "refuse";
    const answers = await new Interview(manner, readFlags(flags), flags.problems).complete();
    if (answers !== undefined) return conclude(answers, io);
    io.err("rampart: given up, nothing was written\n");
    return EXIT.interrupted;
  });
}

function readFlags(flags: FlagValues): Answers {
  const answers: Record<string, string> = {};
  for (const { id } of QUESTIONS) {
    const text = flags.text(id)?.trim();
    if (text !== undefined) answers[id] = text;
  }
  if (flags.has("run") && flags.has("no-run")) {
    throw new UserError([{ path: "--no-run", message: "contradicts --run", hint: "Give one of them." }]);
  }
  if (flags.has("run")) answers["run"] = "yes";
  if (flags.has("no-run")) answers["run"] = "no";
  // An address or a model means a server.
  if (answers["target"] === undefined && (answers["url"] ?? answers["model"]) !== undefined) {
    answers["target"] = "triton";
  }
  return answers;
}

/** Completes answers: from flags, defaults or the user. */
class Interview {
  private readonly manner: Manner;
  private readonly given: Answers;
  private answers: Answers = {};
  private models: readonly ListedModel[] = [];
  private isProbed = false;
  private readonly problems: Problem[];

  /** @param found what is wrong with the flags already */
  constructor(manner: Manner, given: Answers, found: readonly Problem[]) {
    this.manner = manner;
    this.given = given;
    this.problems = [...found];
  }

  /** All answers; undefined when the user gives up. */
  async complete(): Promise<Answers | undefined> {
    this.checkUnneeded();
    if (this.manner === "ask") this.checkBeforeAsking();
    for (let question = this.next(); question !== undefined; question = this.next()) {
      if (question.id === "model" && !this.isProbed && !(await this.probe())) continue;
      const answer = await this.answer(question);
      if (answer === undefined) return undefined;
      this.answers = { ...this.answers, [question.id]: answer };
    }
    if (this.problems.length > 0) throw new UserError(this.problems);
    return this.answers;
  }

  private get around(): Surroundings {
    return { models: this.models, fileExists: existsSync };
  }

  private next(): Question | undefined {
    return nextQuestion(this.answers, this.around);
  }

  private async answer(question: Question): Promise<string | undefined> {
    const given = this.given[question.id];
    // Which models there are is not known where a problem kept the server from being asked.
    const isUnknown = question.id === "model" && !this.isProbed;
    if (isUnknown && (given !== undefined || this.manner === "defaults")) return given ?? "";
    if (given !== undefined) {
      this.check(question, given, this.answers);
      if (this.manner === "ask" && this.problems.length > 0) throw new UserError(this.problems);
      return given;
    }
    const preset = question.preset({ ...this.given, ...this.answers }, this.around);
    if (this.manner === "ask") return this.ask(question);
    if (this.manner === "defaults" && preset !== undefined) return preset;
    const flag = question.id === "run" ? "--run or --no-run" : `--${question.id} ${question.value}`;
    const hint =
      preset === undefined
        ? `Give ${flag}${this.describeModels(question)}.`
        : `Give ${flag}, or --yes to take '${preset}'.`;
    const message =
      this.manner === "defaults" ? "has no default here" : "is not answered, and there is no terminal to ask at";
    this.problems.push({ path: `--${question.id}`, message, hint });
    return preset ?? "";
  }

  private describeModels({ id }: Question): string {
    return id === "model" && this.isProbed ? `: the server has ${this.models.map(({ name }) => name).join(", ")}` : "";
  }

  private async ask(question: Question): Promise<string | undefined> {
    const { askQuestion } = await import("../wizard/prompts.ts");
    return askQuestion(question, this.answers, this.around);
  }

  /** Asks the server for its models. A user who gave a wrong address may give another: then false. */
  private async probe(): Promise<boolean> {
    // No server is asked for nothing.
    if (this.problems.length > 0) return true;
    const { url = "" } = this.answers;
    try {
      this.models = await probeModels(probeTarget(this.answers));
      this.isProbed = true;
    } catch (error) {
      if (!(error instanceof RunError || error instanceof UserError)) throw error;
      if (this.manner !== "ask" || this.given.url !== undefined) throw error;
      const { warn } = await import("../wizard/prompts.ts");
      warn(messageOf(error));
      const { url: _wrong, ...rest } = this.answers;
      this.answers = rest;
      return false;
    }
    if (this.models.some(({ refusal }) => refusal === "")) return true;
    throw new RunError("refused", `${url} has no model ready that can be measured`, "Load one into the server.");
  }

  /** Flags that answer what will not be asked. */
  private check(question: Question, given: string, answers: Answers): void {
    const problem = question.check(given, answers, this.around);
    if (problem === undefined) return;
    const hint = question.id === "out" ? "Choose another file." : "Correct it.";
    this.problems.push({ path: `--${question.id}`, message: problem, value: given, hint });
  }

  /** Nobody is asked for nothing: what can be known to be wrong before the first question is told then. */
  private checkBeforeAsking(): void {
    for (const question of QUESTIONS) {
      const given = this.given[question.id];
      const dependsOnServer = question.id === "model" || question.id === "shapes";
      const dependsOnLoad = question.id === "levels" && this.given.load === undefined;
      if (given !== undefined && !dependsOnServer && !dependsOnLoad) this.check(question, given, this.given);
    }
    if (this.problems.length > 0) throw new UserError(this.problems);
  }

  private checkUnneeded(): void {
    const { target = "" } = this.given;
    for (const id of UNNEEDED[target] ?? []) {
      const value = this.given[id];
      if (value === undefined) continue;
      const hint = `Leave it out, or give --target ${id === "tokenizer" ? "openai" : "triton"}.`;
      this.problems.push({ path: `--${id}`, message: `does not go with the ${TARGET_NAMES[target]}`, value, hint });
    }
  }
}

const TARGET_NAMES: Readonly<Record<string, string>> = {
  embedded: "embedded target",
  triton: "Triton server",
  openai: "language model",
};

/** Questions that a target does not have. */
const UNNEEDED: Readonly<Record<string, readonly QuestionId[]>> = {
  embedded: ["url", "model", "tokenizer", "shapes"],
  triton: ["tokenizer"],
  openai: ["protocol", "shapes"],
};

function probeTarget({ target, url = "", protocol }: Answers): ServerTargetPlan {
  if (target !== "openai")
    return { ...DEFAULT_TRITON_TARGET, url, protocol: protocol === "grpc" ? "grpc" : "http", model: "" };
  const common = { kind: "openai", protocol: "http", batchSize: 1, isStreaming: false, headers: [] } as const;
  return { ...common, url, model: "", endpoint: "v1/models", tls: DEFAULT_TLS };
}

async function conclude(answers: Answers, io: CommandIo): Promise<number> {
  const file = answers.out as string;
  const text = formatScenario(answers);
  const flags = answers.target === "openai" ? describeProfile(answers) : describeFlags(toScenario(answers));
  try {
    // Not over a file that came to be in the meantime.
    writeOutput(file, text, { isNew: true, mode: 0o755 });
  } catch (error) {
    throw new UserError([
      { path: "--out", message: messageOf(error), value: file, hint: "Choose a file in a folder that can be written." },
    ]);
  }
  io.out(`\nwrote ${file}:\n\n${text}\n${flags}\n`);
  if (answers.run !== "yes") {
    io.out(`run it with: rampart run ${file}\n`);
    return EXIT.passed;
  }
  return runScenarioCommand([file], "rampart run", io);
}

/** The command line of perf_analyzer mode that measures the same. */
function describeFlags(scenario: Scenario): string {
  const { args, notes } = toFlags(toPlan(scenario, process.cwd()));
  const isEmbedded = scenario.definition.target.kind === "embedded";
  return [
    "the same by flags:",
    ...(isEmbedded ? ["  rampart mock &"] : []),
    `  rampart perf_analyzer ${args.map(quote).join(" ")}`,
    ...notes.map((note) => `  (${note})`),
    "",
  ].join("\n");
}

/** The command line of genai-perf mode that comes closest. */
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

/** For a POSIX shell. */
function quote(word: string): string {
  return /^[\w./:=,@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function formatHelp(command: string): string {
  return [
    `Usage: ${command} [flags]`,
    "",
    "Asks a few questions, writes a scenario, prints the flags that do the same, and offers to run it. Every question can be",
    "answered by a flag; without a terminal nothing is asked.",
    "",
    formatFlags(FLAGS),
    "",
  ].join("\n");
}
