import { nearestName } from "../plan/nearest-name.ts";
import { registerArguments } from "../plan/secrets.ts";
import { VERSION } from "../report/version.ts";
import { EXIT, withOutputFailure } from "../result/exit-codes.ts";
import { endStartUp } from "../runtime/runtime.ts";
import type { CommandIo } from "./execute.ts";
import type { Flag } from "./flags.ts";
import { guardIo } from "./guarded-io.ts";
import type { Topic } from "./help/topics.ts";
import { runPerfAnalyzer } from "./perf-analyzer/command.ts";
import { inScenario, withNames } from "./setting-names.ts";
import type { CommandUsage, Operand, ShownCommand } from "./shown-usage.ts";

/** A subcommand. Its module is loaded when it is called. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Exit code when standard output cannot be written. Default: that of Rampart's own commands. */
  readonly outputExit?: number;
  /** Returns what the command accepts, for completion and the man page, from the tables that parse it. */
  usage(): Promise<CommandUsage>;
  /** Returns the exit code. @param command the command as it was called */
  run(args: readonly string[], command: string, io: CommandIo): Promise<number>;
}

/** Guides are not wrapped wider than this. */
const MAX_GUIDE_COLUMNS = 110;

/** The subcommands. */
export const COMMANDS: readonly Command[] = [
  {
    name: "run",
    summary: "run a scenario: a load test in TypeScript, YAML or JSON",
    usage: () => usageOf(import("./run.ts"), { name: "SCENARIO.ts", takes: "file" }),
    run: async (args, command, io) => (await import("./run.ts")).runScenarioCommand(args, command, io),
  },
  {
    name: "init",
    summary: "answer a few questions and get a scenario",
    usage: () => usageOf(import("./init.ts")),
    run: async (args, command, io) => (await import("./init.ts")).runInitCommand(args, command, io),
  },
  {
    name: "types",
    summary: "write the types of scenarios beside them, for editors",
    usage: () => usageOf(import("./types/command.ts"), { name: "FOLDER", takes: "folder" }),
    run: async (args, command, io) => (await import("./types/command.ts")).runTypesCommand(args, command, io),
  },
  {
    name: "schema",
    summary: "print the JSON Schema of a file that Rampart reads or writes",
    usage: async () => {
      const schema = import("./schema.ts");
      return usageOf(schema, { name: "NAME", choices: (await schema).SCHEMA_NAMES, takes: "word" });
    },
    run: async (args, command, io) => (await import("./schema.ts")).runSchemaCommand(args, command, io),
  },
  {
    name: "http",
    summary: "measure any HTTP server by its URL, without a scenario",
    usage: () => usageOf(import("./http/flags.ts"), { name: "URL", takes: "word" }),
    run: async (args, command, io) => (await import("./http/command.ts")).runHttpCommand(args, command, io),
  },
  {
    name: "chat",
    summary: "ask a language model one question and see its tokens with their times",
    usage: () => usageOf(import("./chat/flags.ts"), { name: "URL", takes: "word" }),
    run: async (args, command, io) => (await import("./chat/command.ts")).runChatCommand(args, command, io),
  },
  {
    name: "mock",
    summary: "start a small server to measure when there is no other",
    usage: () => usageOf(import("./mock.ts")),
    run: async (args, command, io) => (await import("./mock.ts")).runMockCommand(args, command, io),
  },
  {
    name: "perf_analyzer",
    summary: "measure a model with perf_analyzer's options",
    usage: async () => (await import("./perf-analyzer/shown-usage.ts")).describeUsage(),
    // Loaded eagerly, unlike the others: its time to the first request is compared with a tool written in C++.
    run: runPerfAnalyzer,
    outputExit: 99,
  },
  {
    name: "genai-perf",
    summary: "measure generative models with GenAI-Perf's options",
    outputExit: 1,
    usage: async () => (await import("./genai-perf/shown-usage.ts")).describeUsage(),
    run: async (args, command, io) => (await import("./genai-perf/command.ts")).runGenaiPerf(args, command, io),
  },
  {
    name: "doctor",
    summary: "check whether this host can send a load and measure it well",
    usage: () => usageOf(import("./doctor/flags.ts")),
    run: async (args, command, io) => (await import("./doctor/command.ts")).runDoctorCommand(args, command, io),
  },
  {
    name: "completion",
    summary: "print a script that completes commands and options in a shell",
    usage: async () => (await import("./shell/command.ts")).COMPLETION_USAGE,
    run: async (args, command, io) =>
      (await import("./shell/command.ts")).runCompletionCommand({ args, command, io, describe: describeCommands }),
  },
  {
    name: "man",
    summary: "print the man page",
    usage: () => usageOf(import("./shell/command.ts")),
    run: async (args, command, io) =>
      (await import("./shell/command.ts")).runManCommand({ args, command, io, describe: describeCommands }),
  },
  {
    name: "report",
    summary: "show the JSON report of a run again, and make its page from it",
    usage: () => usageOf(import("./report.ts"), { name: "REPORT", takes: "file" }),
    run: async (args, command, io) => (await import("./report.ts")).runReportCommand(args, command, io),
  },
  {
    name: "compare",
    summary: "compare reports of whole runs, and find regressions",
    usage: () => usageOf(import("./compare/flags.ts"), { name: "REPORT", takes: "file" }),
    run: async (args, command, io) => (await import("./compare/command.ts")).runCompareCommand(args, command, io),
  },
];

/** Describes a command whose module has its flags. */
async function usageOf(module: Promise<{ readonly FLAGS: readonly Flag[] }>, operand?: Operand): Promise<CommandUsage> {
  const [{ FLAGS }, { usageOfFlags }] = await Promise.all([module, import("./shown-usage.ts")]);
  return usageOfFlags(FLAGS, operand);
}

/** Describes all commands, and `help` and `version`. */
async function describeCommands(): Promise<ShownCommand[]> {
  const { TOPICS } = await import("./help/topics.ts");
  const described = COMMANDS.map(async ({ name, summary, usage }) => ({ name, summary, usage: await usage() }));
  const choices = [...TOPICS, ...COMMANDS].map(({ name }) => name);
  return [
    ...(await Promise.all(described)),
    {
      name: "help",
      summary: "print a guide, or the help of a command",
      usage: { options: [], operand: { name: "TOPIC", choices: [...new Set(choices)], takes: "word" } },
    },
    { name: "version", summary: "print the version", usage: { options: [] } },
  ];
}

/** Runs the command line of an executable called `invokedAs`. Returns the exit code. */
export async function runCommandLine(invokedAs: string, args: readonly string[], rawIo: CommandIo): Promise<number> {
  registerArguments(args);
  const io = withNames(guardIo(rawIo), inScenario);
  // An executable linked under the name of another tool acts as that tool.
  const linked = findCommand(invokedAs);
  const [name, ...rest] = args;
  const command = linked ?? findCommand(name);
  if (command?.run !== runPerfAnalyzer) endStartUp();
  if (command === undefined) return withOutputFailure(await runNoCommand(name, rest, io), io);
  const calledAs = linked === undefined ? `rampart ${command.name}` : invokedAs;
  const code = await command.run(linked === undefined ? rest : args, calledAs, io);
  return withOutputFailure(code, io, command.outputExit);
}

/** Handles help, the version, and unknown commands. Returns the exit code. */
function runNoCommand(name: string | undefined, rest: readonly string[], io: CommandIo): number | Promise<number> {
  switch (name) {
    case "help":
      return printHelp(rest[0], io);
    case "--help":
    case "-h":
      return printHelp(undefined, io);
    case "version":
    case "--version":
      io.out(`rampart ${VERSION}\n`);
      return EXIT.passed;
    case undefined:
      return printUsage(io);
    default:
      return refuseCommand(name, io);
  }
}

/** Prints a guide, the help of a command, or the list of both. */
async function printHelp(name: string | undefined, io: CommandIo): Promise<number> {
  const { formatTopic, TOPICS } = await import("./help/topics.ts");
  const columns = Math.min(MAX_GUIDE_COLUMNS, process.stdout.columns || MAX_GUIDE_COLUMNS);
  const isList = name === undefined || name === "help" || name === "version";
  const text = isList ? formatHelp(TOPICS) : formatTopic(name, columns);
  if (text !== undefined) {
    io.out(text);
    return EXIT.passed;
  }
  const command = findCommand(name);
  const topics = TOPICS.map((topic) => topic.name);
  return command?.run(["--help"], `rampart ${command.name}`, io) ?? refuseCommand(name ?? "", io, topics);
}

/** @param topics names that would have been right too */
function refuseCommand(name: string, io: CommandIo, topics: readonly string[] = []): number {
  const names = [...COMMANDS.map((entry) => entry.name), ...topics, "help", "version"];
  const isScenario = /\.(?:m?[jt]s|ya?ml|json)$/.test(name);
  const near = isScenario ? undefined : nearestName(name, names);
  const [what, all] = topics.length === 0 ? ["command", "commands"] : ["command or topic", "commands and topics"];
  const hint =
    near === undefined ? `The ${all} are ${names.slice(0, -1).join(", ")} and version.` : `Did you mean ${near}?`;
  io.err(`rampart: there is no ${what} '${name}'. ${hint}\n`);
  if (name === "aiperf")
    io.err("AIPerf has many of GenAI-Perf's options, and rampart genai-perf profile takes these.\n");
  if (isScenario) io.err(`To run a scenario write: rampart run ${name}\n`);
  return EXIT.usage;
}

function findCommand(name: string | undefined): Command | undefined {
  for (const command of COMMANDS) if (command.name === name) return command;
  return undefined;
}

/** Without a command: the same list as an error. */
async function printUsage(io: CommandIo): Promise<number> {
  const { TOPICS } = await import("./help/topics.ts");
  io.err(formatHelp(TOPICS));
  return EXIT.usage;
}

function formatHelp(topics: readonly Topic[]): string {
  const formatRow = ({ name, summary }: { name: string; summary: string }): string => `  ${name.padEnd(15)}${summary}`;
  return [
    "Usage: rampart COMMAND [options]",
    "",
    "Measures inference servers: latency, throughput and token times under load.",
    "",
    "Commands (rampart COMMAND --help lists the options of one):",
    ...[...COMMANDS, { name: "version", summary: "print the version" }].map(formatRow),
    "",
    "Guides (rampart help TOPIC prints one):",
    ...topics.map(formatRow),
    "",
    "To try it with no server running: rampart init --yes",
    "Linked as perf_analyzer or genai-perf, the executable is that command.",
    "",
  ].join("\n");
}
