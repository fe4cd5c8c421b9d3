import { parseArgs } from "node:util";
import { word } from "../plan/messages.ts";
import { nameHint, nearestName } from "../plan/nearest-name.ts";
import { formatProblem, type Problem, problem, type UserError } from "../plan/problem.ts";
import type { TextSink } from "../report/report.ts";
import { optionElsewhere } from "./options/shared-options.ts";

/**
 * Flags of Rampart's own commands: typed tables, parsed by Node's rules, with all problems reported at once. Compatible modes have their
 * own parsers.
 */

/** One flag. */
export interface Flag {
  /** Long name without dashes. */
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in help; absent for a switch. */
  readonly value?: string;
  /** The allowed values. */
  readonly choices?: readonly string[];
  /** The value of {@link FlagValues.value} when the flag is not given. Absent: there is no such value. */
  readonly default?: string;
  /** Describes in help what applies when the flag is not given. Absent: `default`. */
  readonly defaultText?: string;
  readonly help: string;
  /** Names that others give it, with dashes: the error for such a name suggests its own. */
  readonly meant?: readonly string[];
  /** What to write for other names that stand for a use of it, by these names: `--slo ttft=200ms` for `--ttft`. */
  readonly meantAs?: Readonly<Record<string, string>>;
  /** Whether help shows it on the first screen. */
  readonly isCommon?: true;
}

/** The given flags of a command. */
export class FlagValues {
  readonly positionals: readonly string[];
  /** Unknown flags, and missing or unexpected values. A flag with a problem has no value here. */
  readonly problems: readonly Problem[];
  private readonly values: ReadonlyMap<string, readonly string[]>;
  private readonly counts: ReadonlyMap<string, number>;
  private readonly flags: readonly Flag[];

  constructor(
    flags: readonly Flag[],
    positionals: readonly string[],
    values: ReadonlyMap<string, readonly string[]>,
    counts: ReadonlyMap<string, number>,
    problems: readonly Problem[],
  ) {
    this.flags = flags;
    this.positionals = positionals;
    this.problems = problems;
    this.values = values;
    this.counts = counts;
  }

  /** Returns a flag's value, the last one if it was given several times; undefined when it was not given. */
  text(name: string): string | undefined {
    return this.values.get(name)?.at(-1);
  }

  /** Returns a flag's value, the last one if it was given several times, or its default. For flags with a default. */
  value(name: string): string {
    const value = this.text(name) ?? this.flags.find((flag) => flag.name === name)?.default;
    if (value === undefined) throw new Error(`--${name} has no default`);
    return value;
  }

  /** Returns all values of a flag that may be given several times. */
  texts(name: string): readonly string[] {
    return this.values.get(name) ?? [];
  }

  /** Returns how often a switch was given. */
  count(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  has(name: string): boolean {
    return this.count(name) > 0;
  }

  /** Whether the command has such a flag. */
  knows(name: string): boolean {
    return this.flags.some((flag) => flag.name === name);
  }

  /** Whether a flag of the command has a value. */
  takesValue(name: string): boolean {
    return this.flags.some((flag) => flag.name === name && flag.value !== undefined);
  }

  /** Returns the same with other values of a flag. */
  withTexts(name: string, texts: readonly string[]): FlagValues {
    const values = new Map([...this.values, [name, texts]]);
    const counts = new Map([...this.counts, [name, texts.length]]);
    return new FlagValues(this.flags, this.positionals, values, counts, this.problems);
  }

  /** Returns the same without some flags. */
  without(names: readonly string[]): FlagValues {
    const left = <T>(all: ReadonlyMap<string, T>): Map<string, T> =>
      new Map([...all].filter(([name]) => !names.includes(name)));
    return new FlagValues(this.flags, this.positionals, left(this.values), left(this.counts), this.problems);
  }
}

/** Prints all options. */
export const HELP_ALL_FLAG: Flag = { name: "help-all", help: "Print all options and exit." };

/** What every command has. */
export const HELP_FLAGS: readonly Flag[] = [
  { name: "help", short: "h", help: "Print the help and exit." },
  HELP_ALL_FLAG,
];

/**
 * Parses arguments. The result includes the problems found, so that the command can add problems with values.
 * @param maxPositionals maximum number of positional arguments
 */
export function parseFlags(flags: readonly Flag[], args: readonly string[], maxPositionals: number): FlagValues {
  const given = withTwoDashes(args, flags);
  const { tokens } = parseArgs({
    args: given,
    options: Object.fromEntries(
      flags.map(({ name, short, value }) => [
        name,
        { type: value === undefined ? "boolean" : "string", ...(short === undefined ? {} : { short }) } as const,
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const problems: Problem[] = [];
  const values = new Map<string, string[]>();
  const counts = new Map<string, number>();
  const found: PositionalArgument[] = [];
  /** Index of an unknown flag without a value: what follows is its value rather than an argument. */
  let unknownIndex = Number.NaN;
  let before: (typeof tokens)[number] | undefined;
  /** Arguments that are too many, so that they may be the values of unknown flags. */
  let surplus = tokens.filter(({ kind }) => kind === "positional").length - maxPositionals;
  for (const token of tokens) {
    const last = before;
    before = token;
    if (token.kind === "positional" && token.index !== unknownIndex + 1)
      found.push({ value: token.value, meant: usedAs(last, flags) });
    if (token.kind !== "option") continue;
    const typed = given[token.index] === args[token.index] ? token.rawName : token.rawName.slice(1);
    const flag = typed === token.rawName ? flags.find(({ name }) => name === token.name) : undefined;
    const meaning = flag === undefined ? findMeaning(token.rawName, typed, flags) : undefined;
    const next = given[token.index + 1] ?? "";
    const takesNext =
      meaning?.takesValue ?? (found.length > 0 || maxPositionals === 0 || surplus > 0 || isAmount(next));
    if (flag === undefined && token.value === undefined && takesNext) {
      unknownIndex = token.index;
      surplus--;
    }
    const wrong =
      flag === undefined
        ? problem("unknown-name", typed, "is not a flag of this command", meaning?.hint ?? "Leave it out.")
        : checkValue(flag, token.value);
    if (wrong !== undefined) problems.push(wrong);
    if (flag === undefined || wrong !== undefined) continue;
    counts.set(flag.name, (counts.get(flag.name) ?? 0) + 1);
    if (token.value !== undefined) values.set(flag.name, [...(values.get(flag.name) ?? []), token.value]);
  }
  // What was to be the value of a flag is the one too many, wherever it stands.
  const tooMany = Math.max(0, found.length - maxPositionals);
  const misplaced = found
    .filter(({ meant }) => meant !== undefined)
    .filter(({ value }, at) => at < tooMany || isAmount(value));
  const positionals = found.filter((one) => !misplaced.includes(one));
  for (const { value, meant } of [...misplaced, ...positionals.slice(maxPositionals)])
    problems.push(unexpectedArgument(value, meant));
  const texts = positionals.map(({ value }) => value);
  return new FlagValues(flags, texts, values, counts, problems);
}

/** Whether an argument is a number or a time, and no file: `100`, `10s`. */
function isAmount(argument: string): boolean {
  return /^\d+(?:\.\d+)?[a-z%]*$/i.test(argument);
}

interface PositionalArgument {
  readonly value: string;
  /** The flag whose value it was to be, by the name that others have for it: `-q 100`. Undefined: none. */
  readonly meant: Flag | undefined;
}

/** Reports an argument that nothing takes. @param meant the flag whose value it was to be. Default: none */
export function unexpectedArgument(argument: string, meant?: Flag): Problem {
  const hint = meant === undefined ? "Leave it out." : `Did you mean ${spell(meant)} ${argument}?`;
  return problem("unknown-name", argument, "is an unexpected argument", hint);
}

/** Returns the flag with a value that others call like a switch that was given: `-q 100`. */
function usedAs(
  token: { readonly kind: string; readonly rawName?: string; readonly value?: string | undefined } | undefined,
  flags: readonly Flag[],
) {
  const { kind, rawName = "", value: own } = token ?? {};
  return kind === "option" && own === undefined
    ? flags.find(({ meant, value }) => value !== undefined && meant?.includes(rawName))
    : undefined;
}

function spell({ name, short }: Flag): string {
  return short === undefined ? `--${name}` : `-${short}`;
}

function checkValue(flag: Flag, value: string | undefined): Problem | undefined {
  const path = `--${flag.name}`;
  if (flag.value === undefined) {
    return value === undefined ? undefined : problem("invalid-value", path, "takes no value", `Write ${path}.`, value);
  }
  if (value === undefined || value === "" || value.startsWith("--")) {
    return problem("missing", path, "needs a value", `Write ${path} ${flag.value}.`);
  }
  if (flag.choices !== undefined && !flag.choices.includes(value)) {
    const hint = nameHint(value, flag.choices, `Give one of ${flag.choices.join(", ")}.`);
    return problem("invalid-value", path, "does not accept this value", hint, value);
  }
  return undefined;
}

/** The names that stand for a flag, with dashes. */
function namesOf({ name, meant = [], meantAs = {} }: Flag): string[] {
  return [...meant, ...Object.keys(meantAs), `--${name}`];
}

/**
 * Returns arguments with two dashes before what is no letters of flags: a long name as Go's programs write it, such as `-duration=5s`, which would be
 * another flag with a value, or a letter that is no flag with its value: `-t12`.
 */
function withTwoDashes(args: readonly string[], flags: readonly Flag[]): string[] {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const takesNext = (arg: string | undefined): boolean =>
    flags.some(({ name, short, value }) => value !== undefined && (arg === `--${name}` || arg === `-${short}`));
  return args.map((arg, index) => {
    const [, name, letter] = /^(-([a-z])[^=]+)/i.exec(arg) ?? [];
    if (name === undefined || index >= end || takesNext(args[index - 1])) return arg;
    const isLong = flags.some((flag) => namesOf(flag).includes(`-${name}`));
    return isLong || !flags.some(({ short }) => short === letter) ? `-${arg}` : arg;
  });
}

/** What an unknown name means. */
interface Meaning {
  readonly takesValue: boolean;
  readonly hint: string;
}

/** Finds what an unknown name means: the flag of another tool, that of another command, or a typo. @param typed with one dash, if it has only one */
function findMeaning(rawName: string, typed: string, flags: readonly Flag[]): Meaning | undefined {
  const meaningOf = (name: string): Meaning | undefined => {
    const flag = flags.find((one) => namesOf(one).includes(name));
    if (flag === undefined) return undefined;
    const use = flag.meantAs?.[name];
    const short = flag.short === undefined || typed.startsWith("--") ? "" : `-${flag.short} or `;
    const hint = use === undefined ? `Did you mean ${short}--${flag.name}?` : `Write ${use}.`;
    return { takesValue: flag.value !== undefined, hint };
  };
  const long = flags.flatMap(namesOf).filter((name) => name.startsWith("--"));
  const near = nearestName(
    rawName.replace(/^-+/, ""),
    long.map((name) => name.slice(2)),
  );
  const letter = typed.slice(0, 2);
  return (
    meaningOf(rawName) ??
    (letter === "--" ? undefined : meaningOf(letter)) ??
    optionElsewhere(rawName) ??
    meaningOf(`--${near}`)
  );
}

/** Returns the end of a flag's help: ` Default: 10s.`; empty without a default. */
export function defaultNote({ default: value, defaultText = value }: Flag): string {
  return defaultText === undefined ? "" : ` Default: ${defaultText}.`;
}

/** The beginning of a problem of a scenario, which no option corrects: `x.ts:5:3, name`. */
const IN_SCENARIO = /^[^,]+\.(?:[mc]?[jt]s|ya?ml|json):\d/;

/** Prints all problems of a user error. */
export function printProblems({ problems }: UserError, command: string, io: TextSink): void {
  for (const problem of problems) io.err(`rampart: ${formatProblem(problem)}\n`);
  if (!problems.every(({ path }) => IN_SCENARIO.test(word(path)))) io.err(`See ${command} --help.\n`);
}
