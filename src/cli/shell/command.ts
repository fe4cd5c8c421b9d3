import { problem, UserError } from "../../plan/problem.ts";
import { VERSION } from "../../report/version.ts";
import type { CommandIo } from "../execute.ts";
import { EXIT } from "../exit-codes.ts";
import { explainErrors } from "../explain.ts";
import { type Flag, formatFlags, HELP_FLAG, parseFlags } from "../flags.ts";
import { type CommandUsage, type ShownCommand, usageOfFlags } from "../shown-usage.ts";
import { formatBash } from "./bash.ts";
import { listContexts } from "./contexts.ts";
import { formatFish } from "./fish.ts";
import { formatManPage } from "./man-page.ts";
import { formatZsh } from "./zsh.ts";

/** `rampart completion SHELL` and `rampart man`: what is made from the tables of commands and options. */

/** Their options. */
export const FLAGS: readonly Flag[] = [HELP_FLAG];

/** The shells, and how each loads its script. */
const SHELLS = {
  bash: {
    format: formatBash,
    load: "rampart completion bash > ~/.local/share/bash-completion/completions/rampart",
  },
  zsh: {
    format: formatZsh,
    load: "rampart completion zsh > ~/.zfunc/_rampart   (and, before compinit in ~/.zshrc: fpath=(~/.zfunc $fpath))",
  },
  fish: { format: formatFish, load: "rampart completion fish > ~/.config/fish/completions/rampart.fish" },
} as const;

const SHELL_NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

/** What `rampart completion` accepts. */
export const COMPLETION_USAGE: CommandUsage = usageOfFlags(FLAGS, {
  name: "SHELL",
  choices: SHELL_NAMES,
  takes: "word",
});

/** Runs `rampart completion`. Returns the exit code. @param describe returns all commands */
export async function runCompletionCommand(
  args: readonly string[],
  command: string,
  io: CommandIo,
  describe: () => Promise<readonly ShownCommand[]>,
): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 1);
    if (flags.has("help")) {
      io.out(formatCompletionHelp(command));
      return EXIT.passed;
    }
    const [typed] = flags.positionals;
    const name = SHELL_NAMES.find((shell) => shell === typed);
    const hint = `Give one of ${SHELL_NAMES.join(", ")}.`;
    const unknown =
      typed === undefined
        ? problem("missing", "SHELL", "no shell is given", hint)
        : problem("invalid-value", "SHELL", "is not a known shell", hint, typed);
    if (name === undefined) throw new UserError([unknown, ...flags.problems]);
    if (flags.problems.length > 0) throw new UserError(flags.problems);
    io.out(SHELLS[name].format(listContexts(await describe())));
    return EXIT.passed;
  });
}

/** Runs `rampart man`. Returns the exit code. @param describe returns all commands */
export async function runManCommand(
  args: readonly string[],
  command: string,
  io: CommandIo,
  describe: () => Promise<readonly ShownCommand[]>,
): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 0);
    if (flags.has("help")) {
      io.out(formatManHelp(command));
      return EXIT.passed;
    }
    if (flags.problems.length > 0) throw new UserError(flags.problems);
    io.out(formatManPage(VERSION, await describe()));
    return EXIT.passed;
  });
}

function formatCompletionHelp(command: string): string {
  return [
    `Usage: ${command} ${SHELL_NAMES.join("|")}`,
    "",
    "Prints a script that completes commands, options, choices and files of rampart, and of perf_analyzer and genai-perf, which",
    "the executable can be linked as. Run it again after an update of Rampart.",
    "",
    ...SHELL_NAMES.map((name) => `  ${SHELLS[name].load}`),
    "",
    "Options:",
    formatFlags(FLAGS),
    "",
  ].join("\n");
}

function formatManHelp(command: string): string {
  return [
    `Usage: ${command}`,
    "",
    "Prints the man page rampart(1), with the options of all commands.",
    "",
    `  ${command} | man -l -`,
    `  ${command} > /usr/local/share/man/man1/rampart.1`,
    "",
    "Options:",
    formatFlags(FLAGS),
    "",
  ].join("\n");
}
