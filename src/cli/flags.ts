import { parseArgs } from "node:util";
import { type Text, word } from "../plan/messages.ts";
import { nameHint, nearestName } from "../plan/nearest-name.ts";
import { defined } from "../plan/objects.ts";
import { formatProblem, type Problem, problem, type UserError } from "../plan/problem.ts";
import type { TextSink } from "../report/report.ts";
import type { SharedOption } from "./options/shared-option.ts";
import { optionElsewhere } from "./options/shared-options.ts";

/** Flags of Rampart's own commands, parsed by Node's rules. All problems are reported at once. */

/** One flag. */
export interface Flag
  extends Pick<SharedOption, "name" | "short" | "choices" | "help" | "meant" | "meantAs" | "isCommon"> {
  /** Placeholder of the value in help; absent for a switch. */
  readonly value?: string;
  /** The value that {@link FlagValues.value} returns when the flag is not given. Absent: there is no such value. */
  readonly default?: string;
  /** Text in help for the default. Absent: `default`. */
  readonly defaultText?: string;
  /** Whether it may be given several times, each time with a value. */
  readonly isRepeatable?: boolean | undefined;
}

interface Use {
  /** The name as the user wrote it, with its dashes: `-c` or `--users`. */
  readonly typed: string;
  /** Value; undefined for a switch. */
  readonly value: string | undefined;
}

type Uses = ReadonlyMap<string, readonly Use[]>;

/** The given flags of a command. */
export class FlagValues {
  readonly positionals: readonly string[];
  /** Problems with unknown flags, and with missing, unexpected or contradicting values. A flag with a wrong value has no value here. */
  readonly problems: readonly Problem[];
  private readonly uses: Uses;
  private readonly flags: readonly Flag[];

  constructor(flags: readonly Flag[], positionals: readonly string[], uses: Uses, problems: readonly Problem[]) {
    this.flags = flags;
    this.positionals = positionals;
    this.problems = problems;
    this.uses = uses;
  }

  /** Returns a flag's value; undefined if it was not given. */
  text(name: string): string | undefined {
    return this.texts(name).at(-1);
  }

  /** Returns a flag's value or its default. Only for flags with a default. */
  value(name: string): string {
    const value = this.text(name) ?? this.flags.find((flag) => flag.name === name)?.default;
    if (value === undefined) throw new Error(`--${name} has no default`);
    return value;
  }

  /** Returns all values of a flag that may be given several times. */
  texts(name: string): readonly string[] {
    return (this.uses.get(name) ?? []).flatMap(({ value }) => value ?? []);
  }

  count(name: string): number {
    return this.uses.get(name)?.length ?? 0;
  }

  has(name: string): boolean {
    return this.count(name) > 0;
  }

  /** Returns a text in which flags have the names that the user wrote: `-c` for `--users`. */
  asTyped(text: string): string {
    return text.replace(/(?<![\w-])--([\w-]+)/g, (long, name: string) => {
      const names = new Set(this.uses.get(name)?.map(({ typed }) => typed));
      return names.size === 1 ? [...names].join() : long;
    });
  }

  knows(name: string): boolean {
    return this.flags.some((flag) => flag.name === name);
  }

  takesValue(name: string): boolean {
    return this.flags.some((flag) => flag.name === name && flag.value !== undefined);
  }

  /** Returns a copy with other values of a flag. */
  withTexts(name: string, texts: readonly string[]): FlagValues {
    const typed = this.uses.get(name)?.at(-1)?.typed ?? `--${name}`;
    const uses = new Map([...this.uses, [name, texts.map((value) => ({ typed, value }))]]);
    return new FlagValues(this.flags, this.positionals, uses, this.problems);
  }

  /** Returns a copy without some flags. */
  without(names: readonly string[]): FlagValues {
    const left = new Map([...this.uses].filter(([name]) => !names.includes(name)));
    return new FlagValues(this.flags, this.positionals, left, this.problems);
  }
}

/** Flag that prints all options. */
export const HELP_ALL_FLAG: Flag = { name: "help-all", help: "Print all options and exit." };

/** Flags that every command has. */
export const HELP_FLAGS: readonly Flag[] = [
  { name: "help", short: "h", help: "Print the help and exit." },
  HELP_ALL_FLAG,
];

/** Parses arguments. The result includes the problems found, so that the command can add problems with values. */
export function parseFlags(flags: readonly Flag[], args: readonly string[], maxPositionals: number): FlagValues {
  const given = withTwoDashes(args, flags);
  const { tokens } = parseArgs({
    args: given,
    options: Object.fromEntries(
      flags.map(({ name, short, value }) => [
        name,
        { type: value === undefined ? "boolean" : "string", ...defined({ short }) } as const,
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const problems: Problem[] = [];
  const uses = new Map<string, Use[]>();
  const found: PositionalArgument[] = [];
  /** Index of an unknown flag without a value: the next argument is probably its value. */
  let unknownIndex = Number.NaN;
  let before: (typeof tokens)[number] | undefined;
  /** Number of surplus arguments, which may be the values of unknown flags. */
  let surplus = tokens.filter(({ kind }) => kind === "positional").length - maxPositionals;
  for (const token of tokens) {
    const last = before;
    before = token;
    if (token.kind === "positional" && token.index !== unknownIndex + 1)
      found.push({ value: token.value, meant: usedAs(last, flags) });
    if (token.kind !== "option") continue;
    const typed = given[token.index] === args[token.index] ? token.rawName : token.rawName.slice(1);
    const flag = typed === token.rawName ? flags.find(({ name }) => name === token.name) : undefined;
    const next = given[token.index + 1] ?? "";
    const meaning = flag === undefined ? findMeaning(token.rawName, typed, flags, token.value ?? next) : undefined;
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
  // A surplus argument may be the value of such a flag, at any position.
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

/** Whether an argument is a number or a time, and not a file: `100`, `10s`. */
function isAmount(argument: string): boolean {
  return /^\d+(?:\.\d+)?[a-z%]*$/i.test(argument);
}

interface PositionalArgument {
  readonly value: string;
  /** Flag that the value was probably meant for, by its name in other tools: `-q 100`. Undefined: none. */
  readonly meant: Flag | undefined;
}

/** Returns the problem of an unexpected argument. @param meant flag that the value was probably meant for. Default: none */
export function unexpectedArgument(argument: string, meant?: Flag): Problem {
  const hint = meant === undefined ? "Leave it out." : `Did you mean ${spell(meant)} ${argument}?`;
  return problem("unknown-name", argument, "is an unexpected argument", hint);
}

/** Returns the flag with a value whose name in other tools is that of a given switch: `-q 100`. */
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

/** @param path name as the user wrote it */
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

/** Finds a flag with two values, one of which would be ignored. */
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

/** All names that refer to a flag, with dashes. */
function namesOf({ name, meant = [], meantAs = {} }: Flag): string[] {
  return [...meant, ...Object.keys(meantAs), `--${name}`];
}

/**
 * Adds a second dash to arguments with one dash that are not letters of flags. These are long names as in Go's programs, such as
 * `-duration=5s`, which would otherwise be another flag with a value, and unknown letters with a value: `-t12`.
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

interface Meaning {
  readonly takesValue: boolean;
  readonly hint: string;
}

/** Returns the replacement for another name with the user's amount instead of the example, which is in angle brackets. */
function withAmount(use: string, amount: string): string {
  return use.replace(/<(.+?)>(\w*)/, (_, example: string, unit: string) => {
    if (/^\d[\d.,:]*$/.test(amount)) return `${amount}${unit}`;
    return isAmount(amount) ? amount : `${example}${unit}`;
  });
}

/**
 * Finds the meaning of an unknown name: a flag of another tool or command, or a typo.
 * @param typed name with one dash @param value what follows the name
 */
function findMeaning(rawName: string, typed: string, flags: readonly Flag[], value: string): Meaning | undefined {
  const meaningOf = (name: string): Meaning | undefined => {
    const flag = flags.find((one) => namesOf(one).includes(name));
    if (flag === undefined) return undefined;
    const use = flag.meantAs?.[name];
    // With an amount, --user is --users, and not the name for a login.
    const begun = isAmount(value)
      ? flags.find((one) => one.value !== undefined && `--${one.name}` === `${name}s`)
      : undefined;
    if (begun !== undefined) return { takesValue: true, hint: `Did you mean --${begun.name}?` };
    const short = flag.short === undefined || typed.startsWith("--") ? "" : `-${flag.short} or `;
    const hint = use === undefined ? `Did you mean ${short}--${flag.name}?` : `Write ${withAmount(use, value)}.`;
    return { takesValue: flag.value !== undefined, hint };
  };
  const long = flags.flatMap(namesOf).flatMap((name) => (name.startsWith("--") ? [name.slice(2)] : []));
  const near = nearestName(rawName.replace(/^-+/, ""), long);
  const letter = typed.slice(0, 2);
  return (
    meaningOf(rawName) ??
    (letter === "--" ? undefined : meaningOf(letter)) ??
    optionElsewhere(
      rawName,
      flags.map(({ name }) => name),
    ) ??
    meaningOf(`--${near}`)
  );
}

/** Returns the end of a flag's help: ` May be repeated. Default: 10s.`; empty for a flag that is given at most once and has no default. */
export function endNotes(flag: Flag): string {
  return `${flag.isRepeatable === true ? " May be repeated." : ""}${defaultNote(flag)}`;
}

/** Returns ` Default: 10s.`; empty without a default. */
export function defaultNote({ default: value, defaultText = value }: Flag): string {
  return defaultText === undefined ? "" : ` Default: ${defaultText}.`;
}

/** Prefix of a problem in a scenario, which options cannot correct: `x.ts:5:3, name`. */
const IN_SCENARIO = /^[^,]+\.(?:[mc]?[jt]s|ya?ml|json):\d/;

/** Prints all problems of a user error. @param flags the given flags; undefined: not known */
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
