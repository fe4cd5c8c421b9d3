import { nameHint } from "../plan/nearest-name.ts";
import { type Problem, problem } from "../plan/problem.ts";
import type { ListedModel } from "../service/service.ts";
import type { Answers, QuestionId } from "./answers.ts";
import { GOALS, goalOf } from "./goals/goals.ts";
import { streams } from "./goals/loads.ts";
import type { Detected, Question, Surroundings } from "./question.ts";
import { QUESTIONS } from "./questions.ts";
import { WIZARD_TARGETS, wizardTargetOf } from "./targets.ts";

/** Derives answers from options, and finds options that cannot be combined. */

/** Questions that some targets do not have. */
const TARGET_QUESTIONS = ["protocol", "url", "model", "tokenizer", "isl", "osl", "shapes", "files"] as const;

/** Returns a problem for each option that the given target does not need. */
export function findUnneededForTarget(given: Answers): Problem[] {
  const target = wizardTargetOf(given);
  if (target === undefined) return [];
  return TARGET_QUESTIONS.flatMap((id) => {
    const value = given[id];
    if (value === undefined || target.asks.includes(id)) return [];
    const hint = `Leave it out, or give --target ${targetsAsking(id).join(", ")}.`;
    return [problem("conflict", `--${id}`, `cannot be used with the ${target.name}`, hint, value)];
  });
}

/** Targets for an address at which no known server responds. */
const IMPLIED_TARGETS = Object.keys(WIZARD_TARGETS).filter((name) => WIZARD_TARGETS[name]?.lists !== undefined);

/** Returns the first target that an address can mean and that needs all given options; without such a target, the first one. */
export function impliedTarget(given: Answers, detected: Detected | undefined): string {
  const found = (detected?.found ?? []).map(({ target }) => target);
  const names = found.length > 0 ? found : detected === undefined ? IMPLIED_TARGETS : [detected.target];
  const fits = (target: string): boolean =>
    findUnneededForTarget({ ...given, target }).length === 0 &&
    (given["ttft-limit"] === undefined || streams({ target }));
  return names.find(fits) ?? (names[0] as string);
}

/** Returns a problem for each option that the chosen goal does not use. @param answers with the goal */
export function findUnneededForGoal(given: Answers, answers: Answers): Problem[] {
  const goal = goalOf(answers);
  if (goal === undefined) return [];
  return (Object.entries(given) as [QuestionId, string][]).flatMap(([id, value]) => {
    if (!isOfGoals(id) || id in goal.asks) return [];
    const hint = `Leave it out, or give --goal ${goalsAsking(id).join(", ")}.`;
    return [problem("conflict", `--${id}`, `cannot be used with the goal '${answers.goal}'`, hint, value)];
  });
}

/** Adds the answers that follow from others. */
export function withImplied(given: Answers): Answers {
  const implied = QUESTIONS.flatMap((question): [string, string][] => {
    const answer = given[question.id] === undefined ? question.implied?.(given) : undefined;
    return answer === undefined ? [] : [[question.id, answer]];
  });
  return { ...given, ...Object.fromEntries(implied) };
}

/** Returns the answer if the server reveals it, so that the question is skipped. Undefined otherwise. */
export function knownAnswer(id: QuestionId, answers: Answers, around: Surroundings): string | undefined {
  const { detected, given, models } = around;
  const found = detected?.found ?? [];
  if (id === "target" && answers.address === "") return WITHOUT_SERVER;
  // A server without a known API is any server of its protocol.
  if (id === "target") return found.length === 0 ? detected?.target : impliedTarget(given, detected);
  if (id === "protocol") return (found.find(({ target }) => target === answers.target) ?? detected)?.protocol;
  const usable = id === "model" ? models.filter(({ refusal }) => refusal === "") : [];
  return usable.length === 1 ? usable[0]?.name : undefined;
}

/** Target if the address is empty. */
const WITHOUT_SERVER = "embedded";

/** Answers that only the server can confirm. */
const SERVER_ANSWERS: readonly QuestionId[] = ["model", "shapes", "other-model"];

/** Returns the options that can be checked before the first question, with their values. */
export function checkableFlags(given: Answers, around: Surroundings): (readonly [question: Question, value: string])[] {
  return QUESTIONS.flatMap((question) => {
    const value = given[question.id];
    const isAsked = question.isNeeded(given, around) || !isOfGoals(question.id);
    return value === undefined || SERVER_ANSWERS.includes(question.id) || !isAsked ? [] : [[question, value] as const];
  });
}

/** Reports whether an option has a value that is wrong for every server. */
export function hasWrongFlag(given: Answers, around: Surroundings): boolean {
  return checkableFlags(given, around).some(([question, value]) => question.check(value, given, around) !== undefined);
}

/** Reports whether a question about the target has neither an answer nor a default. */
export function lacksTargetAnswer(answers: Answers, around: Surroundings): boolean {
  const ids: readonly QuestionId[] = TARGET_QUESTIONS;
  return QUESTIONS.some(
    ({ id, isNeeded, preset }) =>
      ids.includes(id) &&
      answers[id] === undefined &&
      isNeeded(answers, around) &&
      preset(answers, around) === undefined,
  );
}

function isOfGoals(id: QuestionId): boolean {
  return goalsAsking(id).length > 0;
}

function goalsAsking(id: QuestionId): string[] {
  return Object.entries(GOALS).flatMap(([name, { asks }]) => (id in asks ? [name] : []));
}

function targetsAsking(id: QuestionId): string[] {
  return Object.entries(WIZARD_TARGETS).flatMap(([name, { asks }]) => (asks.includes(id) ? [name] : []));
}

/** An unanswered question, and what the interview already knows about it. */
interface Unanswered {
  readonly preset: string | undefined;
  /** Models of the server; empty before the query. */
  readonly models: readonly ListedModel[];
  /** Whether the interview takes defaults. Then this question has none. */
  readonly takesDefaults: boolean;
}

/** Returns the problem of a question without an answer. */
export function unanswered({ id, value }: Question, { preset, models, takesDefaults }: Unanswered): Problem {
  const flag = id === "run" ? "--run or --no-run" : value === undefined ? `--${id}` : `--${id} ${value}`;
  const names = models.map(({ name }) => name).join(", ");
  const known = id === "model" && names !== "" ? `: the server has ${names}` : "";
  const hint = preset === undefined ? `Give ${flag}${known}.` : `Give ${flag}, or --yes to take '${preset}'.`;
  const message = takesDefaults ? "has no default here" : "is not answered, and there is no terminal for asking";
  return problem("missing", `--${id}`, message, hint);
}

/** Returns the problem of an option with a wrong answer. @param choices the possible answers; empty: any text */
export function wrongAnswer(id: QuestionId, message: string, given: string, choices: readonly string[]): Problem {
  const hint = id === "save" ? "Choose another file." : nameHint(given, choices, "");
  return problem("invalid-value", `--${id}`, message, hint, given);
}
