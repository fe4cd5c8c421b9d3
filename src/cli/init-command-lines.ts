import type { Answers } from "../wizard/answers.ts";
import type { Goal } from "../wizard/goals/goal.ts";
import { goalOf } from "../wizard/goals/goals.ts";
import { planOf } from "../wizard/scenario-text.ts";
import { type WizardTarget, wizardTargetOf } from "../wizard/targets.ts";
import { toFlags } from "./perf-analyzer/to-flags.ts";

/** Returns the command line that is closest to the scenario of the answers; empty if no command line is equivalent. */
export function describeCommandLine(answers: Answers): string {
  const target = wizardTargetOf(answers);
  const goal = goalOf(answers);
  return target === undefined || goal === undefined ? "" : COMMAND_LINES[target.commandLine](answers, goal, target);
}

type Describe = (answers: Answers, goal: Goal, target: WizardTarget) => string;

/** The closest command line to a scenario, by its command. */
const COMMAND_LINES: Readonly<Record<WizardTarget["commandLine"], Describe>> = {
  perf_analyzer: describeFlags,
  "genai-perf": describeProfile,
  http: describeHttp,
};

/** Returns the command line of perf_analyzer mode that measures the same. */
function describeFlags(
  answers: Answers,
  { toFlagsPlan, flagsNote }: Goal,
  { lists, listModels }: WizardTarget,
): string {
  const plan = toFlagsPlan?.(planOf(answers), answers);
  if (plan === undefined) return "";
  const { args, notes } = toFlags(plan);
  // The target is inside Rampart, but flags need a server.
  const isRampart = lists === undefined && listModels === undefined;
  return [
    flagsNote === undefined ? "the same by flags:" : "nearly the same by flags:",
    ...(isRampart ? ["  rampart mock &"] : []),
    `  rampart perf_analyzer ${args.map(quote).join(" ")}`,
    ...[...notes, ...(flagsNote === undefined ? [] : [flagsNote])].map((note) => `  (${note})`),
    "",
  ].join("\n");
}

/** Returns the closest command line of genai-perf mode. */
function describeProfile(answers: Answers, { firstLevel }: Goal): string {
  if (firstLevel === undefined) return "";
  const { model = "", url = "", tokenizer = model, isl = "", osl = "", load } = answers;
  const args = [
    ...["-m", model, "-u", url, "--tokenizer", tokenizer, "--endpoint-type", "chat", "--streaming"],
    ...["--synthetic-input-tokens-mean", isl, "--output-tokens-mean", osl],
    ...[load === "rate" ? "--request-rate" : "--concurrency", String(firstLevel(answers))],
  ];
  return [
    "nearly the same by flags:",
    `  rampart genai-perf profile ${args.map(quote).join(" ")}`,
    "  (it has one level, sends a number of requests, and has no assertions)",
    "",
  ].join("\n");
}

/** Returns the closest command line of `rampart http`. */
function describeHttp(answers: Answers, { firstLevel }: Goal): string {
  if (firstLevel === undefined) return "";
  const { url = "", path = "", load, for: time = "stable" } = answers;
  const address = path === "" || path === "/" ? url : `${url.replace(/\/$/, "")}${path}`;
  const extent = time === "stable" ? [] : ["--for", time.replace(/\s/g, "")];
  const args = [address, load === "rate" ? "--rate" : "--users", String(firstLevel(answers)), ...extent];
  return [
    "nearly the same by flags:",
    `  rampart http ${args.map(quote).join(" ")}`,
    "  (it has one level, and no assertion on latency)",
    "",
  ].join("\n");
}

/** Quotes for a POSIX shell. */
export function quote(word: string): string {
  return /^[\w./:=,@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
