import type { CommandIo } from "./execute.ts";
import { runPerfAnalyzer } from "./perf-analyzer/command.ts";

/** A subcommand; loaded when it is called. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Returns the exit code. @param command how it was called */
  run(args: readonly string[], command: string, io: CommandIo): Promise<number>;
}

const EXIT_USAGE = 64;

/** The subcommands. */
export const COMMANDS: readonly Command[] = [
  {
    name: "perf_analyzer",
    summary: "measure a model with perf_analyzer's flags",
    // Not loaded when called, like the others: its time to the first request is compared with a tool written in C++.
    run: runPerfAnalyzer,
  },
];

/** Runs the command line of an executable called `invokedAs`. Returns the exit code. */
export function runCommandLine(invokedAs: string, args: readonly string[], io: CommandIo): Promise<number> {
  // Linked as one of the tools it stands for, the executable is that tool.
  const linked = findCommand(invokedAs);
  if (linked !== undefined) return linked.run(args, invokedAs, io);
  const [name, ...rest] = args;
  const command = findCommand(name);
  if (command !== undefined) return command.run(rest, `rampart ${command.name}`, io);
  io.err(`rampart: unknown command ${name}\n`);
  return Promise.resolve(EXIT_USAGE);
}

function findCommand(name: string | undefined): Command | undefined {
  for (const command of COMMANDS) if (command.name === name) return command;
  return undefined;
}
