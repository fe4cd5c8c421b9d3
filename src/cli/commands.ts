import { nameHint, nearestName, nearHint } from "../plan/nearest-name.ts";
import { formatProblem } from "../plan/problem.ts";
import { registerArguments } from "../plan/secrets.ts";
import { wrapWords } from "../plan/terminal-text.ts";
import { EXIT, withOutputFailure } from "../result/exit-codes.ts";
import { isDirectory } from "../runtime/files.ts";
import { endStartUp } from "../runtime/runtime.ts";
import { VERSION } from "../runtime/this-program.ts";
import type { LoadedCommand, ShownCommand } from "./command-usage.ts";
import type { CommandIo } from "./execute.ts";
import { unexpectedArgument } from "./flags.ts";
import { guardIo } from "./guarded-io.ts";
import { formatHelpRow, HELP_COLUMNS } from "./help/page.ts";
import type { Topic } from "./help/topics.ts";
import { COMMAND as PERF_ANALYZER } from "./perf-analyzer/command.ts";
import { inScenario, withNames } from "./setting-names.ts";

/** A subcommand. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Exit code if standard output cannot be written. Default: that of Rampart's own commands. */
  readonly outputExit?: number;
  /** True if the command itself decides when its start-up ends. Default: the start-up ends when the command is known. */
  readonly endsStartUp?: true;
  load(): LoadedCommand | Promise<LoadedCommand>;
}

const SUMMARY_COLUMN = 17;
const TOPIC_COLUMN = 24;

const loadByUrl = () => import("./by-url/command.ts");
const loadShell = () => import("./shell/command.ts");

const loadRun = async (): Promise<LoadedCommand> => (await import("./run.ts")).COMMAND;

/** Returns a command that its module exports as `COMMAND`. */
function lazy(name: string, summary: string, load: () => Promise<{ readonly COMMAND: LoadedCommand }>): Command {
  return { name, summary, load: async () => (await load()).COMMAND };
}

/** Reports whether an argument is a scenario or a folder of them: a scenario's extension, a slash, or an existing folder. */
function isScenario(name: string): boolean {
  if (isAddress(name)) return false;
  return (
    /\.(?:[cm]?[jt]s|ya?ml|json)$/i.test(name) || (!name.startsWith("-") && (/[/\\]/.test(name) || isDirectory(name)))
  );
}

/** Whether a word is the address of a server, given without a command. */
function isAddress(name: string): boolean {
  return /^(?:https?:\/\/|[\w.-]+:\d+(?:\/|$))/i.test(name);
}

/** The subcommands, by their heading in help, in its order. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly Command[]>> = {
  Measure: [
    {
      name: "run",
      summary: "run a scenario: a load test in TypeScript, YAML or JSON",
      load: () => loadRun(),
    },
    lazy("http", "measure any HTTP server by its URL, without a scenario", () => import("./http/command.ts")),
    {
      name: "llm",
      summary: "measure a language model by its address, without a scenario",
      load: async () => (await loadByUrl()).urlCommand("llm"),
    },
    {
      name: "triton",
      summary: "measure a model on Triton by its address, without a scenario",
      load: async () => (await loadByUrl()).urlCommand("triton"),
    },
    lazy("chat", "ask a language model one question and see its tokens", () => import("./chat/command.ts")),
    {
      name: "perf_analyzer",
      summary: "measure a model with perf_analyzer's options",
      // Loaded eagerly, unlike the others: its time to the first request is compared with a tool written in C++.
      load: () => PERF_ANALYZER,
      endsStartUp: true,
      outputExit: 99,
    },
    {
      ...lazy(
        "genai-perf",
        "measure generative models with GenAI-Perf's options",
        () => import("./genai-perf/command.ts"),
      ),
      outputExit: 1,
    },
  ],
  "Write scenarios": [
    lazy("init", "answer a few questions and get a scenario", () => import("./init.ts")),
    lazy("check", "check scenarios: their types, plan and time; nothing is sent", () => import("./check/command.ts")),
    lazy("types", "write the types of scenarios beside them, for editors", () => import("./types/command.ts")),
    lazy("schema", "print the JSON Schema of a file that Rampart reads or writes", () => import("./schema.ts")),
  ],
  "Read reports": [
    lazy("report", "show the JSON report of a run again, and make its page", () => import("./report.ts")),
    lazy("compare", "compare reports of whole runs, and find regressions", () => import("./compare/command.ts")),
  ],
  "Servers and hosts": [
    lazy("mock", "start a small server to measure when there is no other", () => import("./mock.ts")),
    lazy("doctor", "check whether this host can send a load and measure it well", () => import("./doctor/command.ts")),
    lazy("agent", "send the load of runs that other hosts conduct", () => import("./agent.ts")),
    lazy("k8s", "print a Kubernetes Job whose pods send a scenario's load", () => import("./k8s/command.ts")),
  ],
  Help: [
    {
      name: "completion",
      summary: "print a script that completes commands and options in a shell",
      load: async () => (await loadShell()).createCompletion(describeCommands),
    },
    {
      name: "man",
      summary: "print the man page",
      load: async () => (await loadShell()).createMan(describeCommands),
    },
  ],
};

/** The subcommands. */
export const COMMANDS: readonly Command[] = Object.values(COMMAND_GROUPS).flat();

/** Commands without a module. */
const HELP = { name: "help", summary: "print a guide, or the help of a command" };
const VERSION_WORD = { name: "version", summary: "print the version" };

/** The guides are loaded only when they are printed. */
const loadTopics = () => import("./help/topics.ts");

/** Describes all commands, and `help` and `version`. */
async function describeCommands(): Promise<ShownCommand[]> {
  const { TOPICS } = await loadTopics();
  const described = COMMANDS.map(async ({ name, summary, load }) => ({ name, summary, usage: (await load()).usage() }));
  const choices = [...TOPICS, ...COMMANDS].map(({ name }) => name);
  return [
    ...(await Promise.all(described)),
    {
      ...HELP,
      usage: { options: [], operand: { name: "TOPIC", choices: [...new Set(choices)], takes: "word" } },
    },
    { ...VERSION_WORD, usage: { options: [] } },
  ];
}

/** Runs the command line of an executable that was called as `invokedAs`. Returns the exit code. */
export async function runCommandLine(invokedAs: string, args: readonly string[], rawIo: CommandIo): Promise<number> {
  registerArguments(args);
  const io = withNames(guardIo(rawIo), inScenario);
  // An executable that is linked as another tool behaves like that tool.
  const linked = findCommand(invokedAs);
  const [name, ...rest] = args;
  const command = linked ?? findCommand(name);
  if (command?.endsStartUp !== true) endStartUp();
  if (command === undefined && name !== undefined && isScenario(name))
    return withOutputFailure(await (await loadRun()).run(args, "rampart run", io), io);
  if (command === undefined) return withOutputFailure(await runNoCommand(name, rest, io), io);
  const calledAs = linked === undefined ? `rampart ${command.name}` : invokedAs;
  const loaded = await command.load();
  const code = await loaded.run(linked === undefined ? rest : args, calledAs, io);
  return withOutputFailure(code, io, command.outputExit);
}

/** Handles help, the version, and unknown commands. Returns the exit code. */
function runNoCommand(name: string | undefined, rest: readonly string[], io: CommandIo): number | Promise<number> {
  switch (name) {
    case "help":
      return rest.length > 1 ? refuseArgument(rest[1] ?? "", io) : printHelp(rest[0], io);
    case "--help":
    case "-h":
    case "--help-all":
      return printHelp(undefined, io, name === "--help-all");
    case "version":
    case "--version":
    case "-V":
      if (rest[0] !== undefined) return refuseArgument(rest[0], io);
      io.out(`rampart ${VERSION}\n`);
      return EXIT.passed;
    case undefined:
      return printUsage(io);
    default:
      return refuseCommand(name, io);
  }
}

/** Prints a guide, the help of a command, or the list of both. */
async function printHelp(name: string | undefined, io: CommandIo, isAll = false): Promise<number> {
  const { printTopic, TOPICS, topicsByKind } = await loadTopics();
  if (name === undefined || ["help", "version", "--help", "-h"].includes(name)) {
    io.out(formatHelp(topicsByKind(), isAll));
    return EXIT.passed;
  }
  if (printTopic(name, io)) return EXIT.passed;
  const command = findCommand(name);
  const topics = TOPICS.map((topic) => topic.name);
  if (command === undefined) return refuseCommand(name ?? "", io, topics);
  return (await command.load()).run(["--help"], `rampart ${command.name}`, io);
}

function refuseArgument(argument: string, io: CommandIo): number {
  io.err(`rampart: ${formatProblem(unexpectedArgument(argument))}\n`);
  return EXIT.usage;
}

/** Names of commands in other tools. */
const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  ...{ attack: "http", bombardier: "http", hey: "http", oha: "http", vegeta: "http", wrk: "http" },
  ...{ bench: "llm", benchmark: "llm", guidellm: "llm" },
  ...{ k6: "run", locust: "run", profile: "genai-perf profile" },
};

/** @param topics other names that would have been valid */
function refuseCommand(name: string, io: CommandIo, topics: readonly string[] = []): number {
  const names = [...new Set([...COMMANDS.map((entry) => entry.name), ...topics, "help", "version"])];
  if (name.startsWith("-")) {
    const usual = `Write rampart COMMAND ${name}; rampart --help lists the commands.`;
    const hint = nameHint(name, ["--help", "--help-all", "--version"], usual);
    io.err(`rampart: ${name} stands before the command. ${hint}\n`);
    return EXIT.usage;
  }
  if (isAddress(name) && topics.length === 0) {
    const [http, llm, triton] = ["http", "llm", "triton"].map((command) => `rampart ${command} ${name}`);
    io.err(`rampart: ${name} is an address without a command. Write ${http}, ${llm} or ${triton}.\n`);
    return EXIT.usage;
  }
  // `ci` is a part of `ci-gate`.
  const part = topics.find((topic) => name.length > 1 && topic.split("-").includes(name));
  const near = Object.hasOwn(OTHER_COMMANDS, name) ? OTHER_COMMANDS[name] : (nearestName(name, names) ?? part);
  const what = topics.length === 0 ? "command" : "command or topic";
  const all =
    topics.length === 0
      ? `The commands are ${names.slice(0, -1).join(", ")} and version.`
      : "rampart --help-all lists them.";
  io.err(`rampart: there is no ${what} '${name}'. ${nearHint(near, all)}\n`);
  if (name === "aiperf")
    io.err("AIPerf has many of GenAI-Perf's options, and rampart genai-perf profile takes these.\n");
  return EXIT.usage;
}

function findCommand(name: string | undefined): Command | undefined {
  for (const command of COMMANDS) if (command.name === name) return command;
  return undefined;
}

/** Prints the same list as an error, if no command is given. */
async function printUsage(io: CommandIo): Promise<number> {
  const { topicsByKind } = await loadTopics();
  io.err(formatHelp(topicsByKind(), false));
  return EXIT.usage;
}

/** Formats the list of commands and guides. @param isAll whether to show the summaries of guides */
function formatHelp(topics: readonly (readonly [kind: string, topics: readonly Topic[]])[], isAll: boolean): string {
  const groups = Object.entries({ ...COMMAND_GROUPS, Help: [...(COMMAND_GROUPS["Help"] ?? []), HELP, VERSION_WORD] });
  const listed = groups.flatMap(([title, rows]) => [
    `${title}:`,
    ...rows.flatMap(({ name, summary }) => formatHelpRow([name, summary], SUMMARY_COLUMN)),
    "",
  ]);
  const [[, main]] = topics as [(typeof topics)[number]];
  const names = wrapWords(`Guides: ${main.map(({ name }) => name).join(", ")}.`, HELP_COLUMNS);
  const listAll = topics.flatMap(([kind, entries]) => [
    ...["", `${kind}:`],
    ...entries.flatMap(({ name, summary }) => formatHelpRow([name, summary], TOPIC_COLUMN)),
  ]);
  return [
    "Usage: rampart COMMAND [options], or rampart SCENARIO.ts [options]",
    "",
    "Measures inference servers: latency, throughput and token times under load.",
    "",
    ...listed,
    ...(isAll ? listAll : names),
    "",
    "rampart COMMAND --help prints the options of one, rampart help NAME a guide.",
    "To try it with no server running: rampart init --yes",
    "Linked as perf_analyzer or genai-perf, the executable is that command.",
    "",
  ].join("\n");
}
