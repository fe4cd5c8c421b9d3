import { type Problem, problem } from "../plan/problem.ts";
import type { Answers, QuestionId } from "./answers.ts";
import { GOALS, goalOf } from "./goals/goals.ts";
import { streams } from "./goals/loads.ts";
import type { Detected, Question, Surroundings } from "./question.ts";
import { QUESTIONS } from "./questions.ts";
import { WIZARD_TARGETS, wizardTargetOf } from "./targets.ts";

/** Answers from options: what follows from them, and what does not go together. */

/** Questions that some targets do not have. */
export const TARGET_QUESTIONS = ["protocol", "url", "model", "tokenizer", "isl", "osl", "shapes", "files"] as const;

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

/** The targets of an address at which nothing answers that is known. */
const IMPLIED_TARGETS = ["triton", "openai", "torchserve"];

/** Returns the first target that an address can mean and that needs all given options; the first one when there is none. */
export function impliedTarget(given: Answers, detected: Detected | undefined): string {
  const found = (detected?.found ?? []).map(({ target }) => target);
  const names = found.length > 0 ? found : detected === undefined ? IMPLIED_TARGETS : [detected.target];
  const fits = (target: string): boolean =>
    findUnneededForTarget({ ...given, target }).length === 0 &&
    (given["ttft-limit"] === undefined || streams({ target }));
  return names.find(fits) ?? (names[0] as string);
}

/** Returns a problem for each option that the chosen goal does not ask for. @param answers with the goal */
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

/** Returns what a server says by itself, so that nobody is asked. @param target as chosen. Default: the only one that was found there */
export function knownAnswers(detected: Detected | undefined, target?: string): Answers {
  const found = (detected?.found ?? []).filter((one) => target === undefined || one.target === target);
  const [known] = found;
  if (known === undefined || found.length > 1) return {};
  const asksProtocol = wizardTargetOf(known)?.asks.includes("protocol") === true;
  return { target: known.target, ...(asksProtocol ? { protocol: known.protocol } : {}) };
}

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

/** Whether an option has a value that is wrong whatever the server answers. */
export function hasWrongFlag(given: Answers, around: Surroundings): boolean {
  return checkableFlags(given, around).some(([question, value]) => question.check(value, given, around) !== undefined);
}

/** Whether a question about the target has neither an answer nor a default. */
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

/** Whether a question belongs to a goal. */
export function isOfGoals(id: QuestionId): boolean {
  return goalsAsking(id).length > 0;
}

/** Returns the names of the goals that ask a question. */
export function goalsAsking(id: QuestionId): string[] {
  return Object.entries(GOALS).flatMap(([name, { asks }]) => (id in asks ? [name] : []));
}

/** Returns the names of the targets that need an answer. */
export function targetsAsking(id: QuestionId): string[] {
  return Object.entries(WIZARD_TARGETS).flatMap(([name, { asks }]) => (asks.includes(id) ? [name] : []));
}
