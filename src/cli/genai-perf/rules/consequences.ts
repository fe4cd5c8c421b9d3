import { type Problem, wordProblem } from "../../../plan/problem.ts";
import { flagsOf, type SubcommandName } from "../options/subcommands.ts";

const FLAG = /(?<![\w-])--?[a-zA-Z][\w-]*/g;

/**
 * Drops problems that may only be consequences of invalid flags: those that mention such a flag, or the flag that was probably meant.
 *
 * @param problems problems between the valid flags
 * @param wrong problems of the invalid flags
 */
export function withoutConsequences(
  problems: readonly Problem[],
  wrong: readonly Problem[],
  subcommand: SubcommandName,
): Problem[] {
  const doubted = new Set(wrong.flatMap(namesIn));
  for (const { names } of flagsOf(subcommand))
    if (names.some((name) => doubted.has(name))) for (const name of names) doubted.add(name);
  return problems.filter((problem) => !namesIn(problem).some((name) => doubted.has(name)));
}

function namesIn(problem: Problem): string[] {
  const { path, message, hint } = wordProblem(problem);
  // Any hint may mention --help.
  return (`${path} ${message} ${hint}`.match(FLAG) ?? []).filter((name) => name !== "--help");
}
