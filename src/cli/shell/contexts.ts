import type { Operand, ShownCommand, ShownOption, ValueKind } from "../command-usage.ts";

/** A place on the command line, after a command and perhaps a subcommand, with the words and options that are allowed there. */
export interface Context {
  /** The preceding words, without the program: empty, a command, or a command and a subcommand. */
  readonly path: readonly string[];
  /** Commands or subcommands. */
  readonly words: readonly Word[];
  readonly options: readonly ShownOption[];
  readonly operand?: Operand;
}

/** A word with its meaning. */
export interface Word {
  readonly name: string;
  readonly summary: string;
}

const TOP_OPTIONS: readonly ShownOption[] = [
  { names: ["-h", "--help"], takes: "word", help: "Print the commands and guides." },
  { names: ["--version"], takes: "word", help: "Print the version." },
];

/** Names under which the executable can be linked, which are also the commands that it then runs. */
export const LINKED_NAMES: readonly string[] = ["perf_analyzer", "genai-perf"];

/** The names of the executable. */
export const PROGRAMS: readonly string[] = ["rampart", ...LINKED_NAMES];

/** Returns every context, beginning with the empty path. */
export function listContexts(commands: readonly ShownCommand[]): Context[] {
  const top = { path: [], words: commands.map(({ name, summary }) => ({ name, summary })), options: TOP_OPTIONS };
  return [top, ...commands.flatMap(contextsOf)];
}

function contextsOf({ name, usage: { options, operand, subcommands = [] } }: ShownCommand): Context[] {
  const words = subcommands.map(({ name: word, summary }) => ({ name: word, summary }));
  return [
    { path: [name], words, options, ...(operand && { operand }) },
    ...subcommands.map((one) => ({
      ...{ path: [name, one.name], words: [], options: one.options },
      ...(one.operand && { operand: one.operand }),
    })),
  ];
}

/** Returns the commands that have subcommands, and each path as one word: steps from word to word. */
export function listSteps(contexts: readonly Context[]): string[] {
  return contexts.filter(({ path }) => path.length > 0).map(keyOf);
}

/** Returns a context's path as one text: `rampart genai-perf profile`. */
export function keyOf({ path }: Pick<Context, "path">): string {
  return ["rampart", ...path].join(" ");
}

/** Quotes a text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Completion of a value: by its kind, or from a list of choices. */
export interface ValueCompletion extends Readonly<Record<ValueKind, string>> {
  oneOf(choices: readonly string[]): string;
}

/** Formats a context as a branch of a shell's `case`. @param lists sets what is offered besides values */
export function formatCase(context: Context, lists: readonly string[], completes: ValueCompletion): string {
  const { options, operand } = context;
  const cases = options
    .filter(({ value }) => value !== undefined)
    .map(({ names, choices, takes }) => {
      const offer = choices === undefined ? completes[takes] : completes.oneOf(choices);
      return `        ${names.map(quote).join("|")}) ${offer};;`;
    });
  return [
    `    ${quote(keyOf(context))})`,
    ...(cases.length === 0 ? [] : ["      case $previous in", ...cases, "      esac"]),
    ...lists.map((line) => `      ${line}`),
    ...(operand === undefined || operand.takes === "word"
      ? []
      : [`      [[ $current == -* ]] || { ${completes[operand.takes]}; }`]),
    "      ;;",
  ].join("\n");
}
