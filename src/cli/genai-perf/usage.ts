import { type Problem, wordProblem } from "../../plan/problem.ts";
import { formatArgparseUsage } from "../options/argparse-usage.ts";
import { HELP_FLAG, TOP_FLAGS } from "./options/parse.ts";
import { flagsOf, SUBCOMMANDS, type SubcommandName } from "./options/subcommands.ts";
import { inGenaiPerf } from "./setting-names.ts";

/** Formats the usage of a subcommand, or of the tool, with a final newline. Rampart's own flags appear only in the help. */
export function formatUsage(subcommand: SubcommandName | undefined): string {
  return subcommand === undefined
    ? formatArgparseUsage("genai-perf", TOP_FLAGS, [`{${SUBCOMMANDS.join(",")}}`, "..."])
    : formatArgparseUsage(`genai-perf ${subcommand}`, [HELP_FLAG, ...flagsOf(subcommand)], []);
}

/** Formats the text on stderr for exit code 2: usage, then a line for each problem, with its hint. */
export function formatUsageError(subcommand: SubcommandName | undefined, problems: readonly Problem[]): string {
  const prog = subcommand === undefined ? "genai-perf" : `genai-perf ${subcommand}`;
  const lines = problems.flatMap((problem) => {
    const { message, hint } = wordProblem(problem, inGenaiPerf);
    return [`${prog}: error: ${message}`, `  ${hint}`];
  });
  return `${formatUsage(subcommand)}${lines.join("\n")}\n`;
}
