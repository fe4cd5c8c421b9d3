import { registerArguments } from "../plan/secrets.ts";
import { endStartUp } from "../runtime/runtime.ts";
import type { CommandIo } from "./execute.ts";
import { EXIT } from "./exit-codes.ts";
import { guardIo } from "./guarded-io.ts";
import { runPerfAnalyzer } from "./perf-analyzer/command.ts";
import { VERSION } from "./version.ts";

/** A subcommand; loaded when it is called. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Returns the exit code. @param command how it was called */
  run(args: readonly string[], command: string, io: CommandIo): Promise<number>;
}

/** The subcommands. */
export const COMMANDS: readonly Command[] = [
  {
    name: "run",
    summary: "run a scenario",
    run: async (args, command, io) => (await import("./run.ts")).runScenarioCommand(args, command, io),
  },
  {
    name: "init",
    summary: "ask a few questions and write a scenario",
    run: async (args, command, io) => (await import("./init.ts")).runInitCommand(args, command, io),
  },
  {
    name: "mock",
    summary: "serve a model to measure when there is no other server",
    run: async (args, command, io) => (await import("./mock.ts")).runMockCommand(args, command, io),
  },
  {
    name: "perf_analyzer",
    summary: "measure a model with perf_analyzer's flags",
    // Not loaded when called, like the others: its time to the first request is compared with a tool written in C++.
    run: runPerfAnalyzer,
  },
  {
    name: "genai-perf",
    summary: "measure generative models with GenAI-Perf's flags",
    run: async (args, command, io) => (await import("./genai-perf/command.ts")).runGenaiPerf(args, command, io),
  },
  notYet("compare", "find regressions between two reports", EXIT.usage),
];

/** A command of a later version: it says so. */
function notYet(name: string, summary: string, exitCode: number): Command {
  return {
    name,
    summary: `${summary} (not supported yet)`,
    run: (_args, command, io) => {
      io.err(`rampart: ${command} is not supported yet.\n`);
      return Promise.resolve(exitCode);
    },
  };
}

/** Runs the command line of an executable called `invokedAs`. Returns the exit code. */
export async function runCommandLine(invokedAs: string, args: readonly string[], rawIo: CommandIo): Promise<number> {
  registerArguments(args);
  const io = guardIo(rawIo);
  // Linked as one of the tools it stands for, the executable is that tool.
  const linked = findCommand(invokedAs);
  if (linked !== undefined) return linked.run(args, invokedAs, io);
  const [name, ...rest] = args;
  const command = findCommand(name);
  if (command?.run === runPerfAnalyzer) return command.run(rest, `rampart ${command.name}`, io);
  endStartUp();
  if (command !== undefined) return command.run(rest, `rampart ${command.name}`, io);
  switch (name) {
    case "help":
    case "--help":
    case "-h":
      io.out(formatHelp());
      return EXIT.passed;
    case "version":
    case "--version":
      io.out(`rampart ${VERSION}\n`);
      return EXIT.passed;
    case undefined:
      io.err(formatHelp());
      return EXIT.usage;
    default:
      io.err(
        `rampart: there is no command '${name}'. There are ${COMMANDS.map((entry) => entry.name).join(", ")}, help and version.\n`,
      );
      if (/\.m?[jt]s$/.test(name)) io.err(`To run a scenario write: rampart run ${name}\n`);
      return EXIT.usage;
  }
}

function findCommand(name: string | undefined): Command | undefined {
  for (const command of COMMANDS) if (command.name === name) return command;
  return undefined;
}

function formatHelp(): string {
  const names = [...COMMANDS, { name: "version", summary: "print the version" }];
  return [
    "Usage: rampart COMMAND [flags]",
    "",
    "Measures inference servers.",
    "",
    ...names.map(({ name, summary }) => `  ${name.padEnd(15)}${summary}`),
    "",
    "rampart COMMAND --help tells the flags of a command. Linked as perf_analyzer or genai-perf, the executable is that command.",
    "",
  ].join("\n");
}
