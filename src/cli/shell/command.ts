import { type Problem, problem, UserError } from "../../plan/problem.ts";
import { VERSION } from "../../report/version.ts";
import { EXIT } from "../../result/exit-codes.ts";
import type { CommandIo } from "../execute.ts";
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

/** What the commands of this folder need: their words, where they print, and a description of all commands. */
export interface PrintedFrom {
  readonly args: readonly string[];
  /** The command's name in texts. */
  readonly command: string;
  readonly io: CommandIo;
  readonly describe: () => Promise<readonly ShownCommand[]>;
}

/** Runs `rampart completion`. Returns the exit code. */
export function runCompletionCommand(from: PrintedFrom): Promise<number> {
  return printText(from, 1, formatCompletionHelp, ([typed]) => {
    const name = SHELL_NAMES.find((shell) => shell === typed);
    if (name !== undefined) return (commands) => SHELLS[name].format(listContexts(commands));
    const hint = `Give one of ${SHELL_NAMES.join(", ")}.`;
    return typed === undefined
      ? problem("missing", "SHELL", "no shell is given", hint)
      : problem("invalid-value", "SHELL", "is not a known shell", hint, typed);
  });
}

/** Runs `rampart man`. Returns the exit code. */
export function runManCommand(from: PrintedFrom): Promise<number> {
  return printText(from, 0, formatManHelp, () => (commands) => formatManPage(VERSION, commands));
}

/** Prints a text about all commands. @param read returns how to format it, or what is wrong with the operands */
function printText(
  { args, command, io, describe }: PrintedFrom,
  operandCount: number,
  formatHelp: (command: string) => string,
  read: (operands: readonly string[]) => Problem | ((commands: readonly ShownCommand[]) => string),
): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, operandCount);
    if (flags.has("help")) {
      io.out(formatHelp(command));
      return EXIT.passed;
    }
    const format = read(flags.positionals);
    const problems = typeof format === "function" ? flags.problems : [format, ...flags.problems];
    if (typeof format !== "function" || problems.length > 0) throw new UserError(problems);
    io.out(format(await describe()));
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
