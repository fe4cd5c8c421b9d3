import type { Problem } from "../../../plan/problem.ts";
import { flagsOf, type SubcommandName } from "../options/subcommands.ts";

const FLAG = /(?<![\w-])--?[a-zA-Z][\w-]*/g;

/**
 * Problems that do not only follow from flags that could not be read: those that name such a flag, or one that was likely meant, may be
 * gone once it is mended.
 *
 * @param problems of the flags that could be read
 * @param wrong what is wrong with the others
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

function namesIn({ path, message, hint }: Problem): string[] {
  // Hints lead to the help, whatever the problem.
  return (`${path} ${message} ${hint}`.match(FLAG) ?? []).filter((name) => name !== "--help");
}
