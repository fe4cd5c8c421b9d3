import { type Problem, problem, UserError } from "../../plan/problem.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { VERSION } from "../../runtime/this-program.ts";
import type { LoadedCommand, Operand, ShownCommand } from "../command-usage.ts";
import type { CommandIo } from "../execute.ts";
import { flagCommand } from "../explain-errors.ts";
import { type Flag, type FlagValues, HELP_FLAGS } from "../flags.ts";
import type { HelpPage } from "../help/page.ts";
import { formatBash } from "./bash.ts";
import { listContexts } from "./contexts.ts";
import { formatFish } from "./fish.ts";
import { formatManPage } from "./man-page.ts";
import { formatZsh } from "./zsh.ts";

/** `rampart completion SHELL` and `rampart man`: texts that are generated from the tables of commands and options. */

/** Options of both commands. */
const FLAGS: readonly Flag[] = HELP_FLAGS;

/** The shells, with the way in which each loads its script. */
const SHELLS = {
  bash: {
    format: formatBash,
    load: "rampart completion bash > ~/.local/share/bash-completion/completions/rampart",
  },
  zsh: {
    format: formatZsh,
    load: "rampart completion zsh > ~/.zfunc/_rampart   # with fpath=(~/.zfunc $fpath)",
  },
  fish: { format: formatFish, load: "rampart completion fish > ~/.config/fish/completions/rampart.fish" },
} as const;

const SHELL_NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

type DescribeAll = () => Promise<readonly ShownCommand[]>;

/** Returns `rampart completion`. */
export function createCompletion(describe: DescribeAll): LoadedCommand {
  const operand: Operand = { name: "SHELL", choices: SHELL_NAMES, takes: "word" };
  const read = ([typed]: readonly string[]): FormatAll | Problem => {
    const name = SHELL_NAMES.find((shell) => shell === typed);
    if (name !== undefined) return (commands) => SHELLS[name].format(listContexts(commands));
    const hint = `Give one of ${SHELL_NAMES.join(", ")}.`;
    return typed === undefined
      ? problem("missing", "SHELL", "no shell is given", hint)
      : problem("invalid-value", "SHELL", "is not a known shell", hint, typed);
  };
  const run = printText(describe, read);
  return flagCommand({ page: completionPage, operand, run });
}

/** Returns `rampart man`. */
export function createMan(describe: DescribeAll): LoadedCommand {
  const format: FormatAll = (commands) => formatManPage(VERSION, commands);
  const run = printText(describe, () => format);
  return flagCommand({ page: manPage, run });
}

type FormatAll = (commands: readonly ShownCommand[]) => string;

/** Returns what prints a text about all commands. @param read returns how to format it, or what is wrong with the operands */
function printText(describe: DescribeAll, read: (operands: readonly string[]) => FormatAll | Problem) {
  return async (flags: FlagValues, io: CommandIo): Promise<number> => {
    const format = read(flags.positionals);
    const problems = typeof format === "function" ? flags.problems : [format, ...flags.problems];
    if (typeof format !== "function" || problems.length > 0) throw new UserError(problems);
    io.out(format(await describe()));
    return EXIT.passed;
  };
}

function completionPage(command: string): HelpPage {
  return {
    usage: [`${command} ${SHELL_NAMES.join("|")}`],
    about: [
      "Prints a script that completes commands, options, choices and files of rampart, and of perf_analyzer and genai-perf, which the executable can be linked as. Run it again after an update of Rampart.",
    ],
    flags: FLAGS,
    examples: SHELL_NAMES.map((name) => SHELLS[name].load),
  };
}

function manPage(command: string): HelpPage {
  return {
    usage: [command],
    about: ["Prints the man page rampart(1), with the options of all commands."],
    flags: FLAGS,
    examples: [`${command} | man -l -`, `${command} > /usr/local/share/man/man1/rampart.1`],
  };
}
