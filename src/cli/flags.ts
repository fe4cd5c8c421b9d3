import { parseArgs } from "node:util";
import { type Text, word } from "../plan/messages.ts";
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
  /** Whether it may be given several times, each with a value of its own. */
  readonly isRepeatable?: boolean | undefined;
  /** Whether help shows it on the first screen. */
  readonly isCommon?: true;
}

/** One use of a flag. */
interface Use {
  /** The name that the user wrote, with its dashes: `-c` or `--users`. */
  readonly typed: string;
  /** Undefined for a switch. */
  readonly value: string | undefined;
}

type Uses = ReadonlyMap<string, readonly Use[]>;

/** The given flags of a command. */
export class FlagValues {
  readonly positionals: readonly string[];
  /** Unknown flags, and missing, unexpected or contradicting values. A flag with a wrong value has no value here. */
  readonly problems: readonly Problem[];
  private readonly uses: Uses;
  private readonly flags: readonly Flag[];

  constructor(flags: readonly Flag[], positionals: readonly string[], uses: Uses, problems: readonly Problem[]) {
    this.flags = flags;
    this.positionals = positionals;
    this.problems = problems;
    this.uses = uses;
  }

  /** Returns a flag's value; undefined when it was not given. */
  text(name: string): string | undefined {
    return this.texts(name).at(-1);
  }

  /** Returns a flag's value or its default. For flags with a default. */
  value(name: string): string {
    const value = this.text(name) ?? this.flags.find((flag) => flag.name === name)?.default;
    if (value === undefined) throw new Error(`--${name} has no default`);
    return value;
  }

  /** Returns all values of a flag that may be given several times. */
  texts(name: string): readonly string[] {
    return (this.uses.get(name) ?? []).flatMap(({ value }) => value ?? []);
  }

  /** Returns how often a flag was given. */
  count(name: string): number {
    return this.uses.get(name)?.length ?? 0;
  }

  has(name: string): boolean {
    return this.count(name) > 0;
  }

  /** Returns a text with the names of flags as the user wrote them: `-c` for `--users`. */
  asTyped(text: string): string {
    return text.replace(/(?<![\w-])--([\w-]+)/g, (long, name: string) => {
      const names = new Set(this.uses.get(name)?.map(({ typed }) => typed));
      return names.size === 1 ? [...names].join() : long;
    });
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
    const typed = this.uses.get(name)?.at(-1)?.typed ?? `--${name}`;
    const uses = new Map([...this.uses, [name, texts.map((value) => ({ typed, value }))]]);
    return new FlagValues(this.flags, this.positionals, uses, this.problems);
  }

  /** Returns the same without some flags. */
  without(names: readonly string[]): FlagValues {
    const left = new Map([...this.uses].filter(([name]) => !names.includes(name)));
    return new FlagValues(this.flags, this.positionals, left, this.problems);
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
  const uses = new Map<string, Use[]>();
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
        : checkValue(flag, token.value, typed);
    if (wrong !== undefined) problems.push(wrong);
    if (flag === undefined || wrong !== undefined) continue;
    uses.set(flag.name, [...(uses.get(flag.name) ?? []), { typed, value: token.value }]);
  }
  problems.push(...flags.flatMap((flag) => checkUses(flag, uses.get(flag.name) ?? [], flags)));
  // What was to be the value of a flag is the one too many, wherever it stands.
  const tooMany = Math.max(0, found.length - maxPositionals);
  const misplaced = found
    .filter(({ meant }) => meant !== undefined)
    .filter(({ value }, at) => at < tooMany || isAmount(value));
  const positionals = found.filter((one) => !misplaced.includes(one));
  for (const { value, meant } of [...misplaced, ...positionals.slice(maxPositionals)])
    problems.push(unexpectedArgument(value, meant));
  const texts = positionals.map(({ value }) => value);
  return new FlagValues(flags, texts, uses, problems);
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
  const { kind, rawName = "", value: inlineValue } = token ?? {};
  return kind === "option" && inlineValue === undefined
    ? flags.find(({ meant, value }) => value !== undefined && meant?.includes(rawName))
    : undefined;
}

function spell({ name, short }: Flag): string {
  return short === undefined ? `--${name}` : `-${short}`;
}

/** @param path the name that the user wrote */
function checkValue(flag: Flag, value: string | undefined, path: string): Problem | undefined {
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

/** Finds a flag with two values, of which one would be ignored. */
function checkUses({ name, value: placeholder, isRepeatable }: Flag, uses: readonly Use[], flags: readonly Flag[]) {
  const [first, ...rest] = uses;
  const other = rest.find(({ value }) => value !== first?.value);
  if (first === undefined || other === undefined || isRepeatable === true) return [];
  const values = [...new Set(uses.map(({ value = "" }) => value))].join(",");
  const isSwept = flags.some((flag) => flag.name === "sweep") && uses.every(({ value = "" }) => isAmount(value));
  const list = placeholder === "LEVELS" ? `--${name} ${values}` : `--sweep ${name}=${values}`;
  const hint = isSwept ? `Give one; to measure each: ${list}.` : "Give one.";
  const again = other.typed === first.typed ? "" : `${other.typed} `;
  return [problem("conflict", first.typed, `is given twice, as ${first.value} and as ${again}${other.value}`, hint)];
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
  const long = flags.flatMap(namesOf).flatMap((name) => (name.startsWith("--") ? [name.slice(2)] : []));
  const near = nearestName(rawName.replace(/^-+/, ""), long);
  const letter = typed.slice(0, 2);
  return (
    meaningOf(rawName) ??
    (letter === "--" ? undefined : meaningOf(letter)) ??
    optionElsewhere(rawName) ??
    meaningOf(`--${near}`)
  );
}

/** Returns the end of a flag's help: ` May be repeated. Default: 10s.`; empty for a flag that is given once and has no default. */
export function endNotes(flag: Flag): string {
  return `${flag.isRepeatable === true ? " May be repeated." : ""}${defaultNote(flag)}`;
}

/** Returns ` Default: 10s.`; empty without a default. */
export function defaultNote({ default: value, defaultText = value }: Flag): string {
  return defaultText === undefined ? "" : ` Default: ${defaultText}.`;
}

/** The beginning of a problem of a scenario, which no option corrects: `x.ts:5:3, name`. */
const IN_SCENARIO = /^[^,]+\.(?:[mc]?[jt]s|ya?ml|json):\d/;

/** Prints all problems of a user error. @param flags what the user wrote; undefined: it is not known */
export function printProblems(
  { problems }: UserError,
  command: string,
  flags: FlagValues | undefined,
  io: TextSink,
): void {
  const typed = (text: Text): string => flags?.asTyped(word(text)) ?? word(text);
  for (const { path, message, ...rest } of problems)
    io.err(`rampart: ${formatProblem({ ...rest, path: typed(path), message: typed(message) })}\n`);
  if (!problems.every(({ path }) => IN_SCENARIO.test(word(path)))) io.err(`See ${command} --help.\n`);
}
