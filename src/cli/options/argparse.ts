import { nearestName, nearHint } from "../../plan/nearest-name.ts";
import { ONLY_ONE, type Problem, problem } from "../../plan/problem.ts";
import type { Option } from "./option.ts";

/** Parses command lines like Python's argparse, but reports all problems instead of the first. */

/** Number of values of an option: none; one; one or more; any number; exactly one as a list; at most one. */
export type ValueCount = "switch" | "one" | "some" | "any" | "single" | "optional";

/** The parts of a table's entry that parsing and usage need. */
export interface ArgparseOption extends Pick<Option<never, never>, "names" | "choices" | "isRampart" | "meant"> {
  /** Names that usage and messages leave out. */
  readonly documentedNames?: readonly string[];
  readonly count: ValueCount;
  /** Placeholder of the value in usage. Default: the first long name in capitals. */
  readonly value?: string;
  readonly isRequired?: boolean;
  /** Options with the same word here exclude each other. */
  readonly excludes?: string;
}

/** An option that was given. */
export interface GivenOption<O> {
  readonly option: O;
  /** Name as the user typed it: `-p`, `--measurement-int`. */
  readonly typed: string;
  /** Empty for a switch, and for `optional` and `any` without a value. */
  readonly values: readonly string[];
}

/** Returns an option's name in messages: all names, joined by slashes. */
export function spellingsOf({ names }: ArgparseOption): string {
  return names.join("/");
}

/** Checks that required options are given, and that options do not exclude each other. @param command for hints: `genai-perf profile` */
export function checkGiven<O extends ArgparseOption>(
  command: string,
  options: readonly O[],
  given: readonly GivenOption<O>[],
): Problem[] {
  const missing = options
    .filter((option) => option.isRequired === true && !given.some((one) => one.option === option))
    .map(spellingsOf)
    .join(", ");
  const message = `the following arguments are required: ${missing}`;
  const required = missing === "" ? [] : [problem("missing", missing, message, `See ${command} --help.`)];
  const excluded = given.flatMap(({ option, typed }, index) => {
    const { excludes } = option;
    const rival = given
      .slice(0, index)
      .find((one) => excludes !== undefined && one.option.excludes === excludes && one.option !== option)?.option;
    if (rival === undefined) return [];
    const message = `argument ${spellingsOf(option)}: not allowed with argument ${spellingsOf(rival)}`;
    return [problem("conflict", typed, message, ONLY_ONE)];
  });
  return [...required, ...excluded];
}

const NEGATIVE_NUMBER = /^-\d+$|^-\d*\.\d+$/;

/** The contents of a command line, or of its part before a subcommand. */
export interface ParsedArguments<O> {
  readonly given: readonly GivenOption<O>[];
  readonly problems: readonly Problem[];
  /** For the top parser: the subcommand and the following arguments. */
  readonly rest: readonly string[];
  /** Whether a subcommand's own parser would report an error. The top parser reports unknown arguments. */
  readonly hasRampartProblems: boolean;
}

/**
 * Parses a whole command line. Continues after errors.
 *
 * @param isTop whether to leave the first positional argument and all following ones to the parser of a subcommand
 * @param explainUnknown returns a hint for an argument that is not an option; undefined: suggest the nearest option
 */
export function parseArgparse<O extends ArgparseOption>(
  options: readonly O[],
  args: readonly string[],
  isTop: boolean,
  explainUnknown: (argument: string) => string | undefined = () => undefined,
): ParsedArguments<O> {
  const parser = new Parser(options, args, isTop, explainUnknown);
  parser.run();
  return parser;
}

class Parser<O extends ArgparseOption> implements ParsedArguments<O> {
  readonly given: GivenOption<O>[] = [];
  readonly problems: Problem[] = [];
  readonly rest: string[] = [];
  hasRampartProblems = false;
  private readonly options: readonly O[];
  private readonly args: readonly string[];
  private readonly isTop: boolean;
  private readonly explainUnknown: (argument: string) => string | undefined;
  private readonly unknown: string[] = [];
  private next = 0;

  constructor(
    options: readonly O[],
    args: readonly string[],
    isTop: boolean,
    explainUnknown: (argument: string) => string | undefined,
  ) {
    this.options = options;
    this.args = args;
    this.isTop = isTop;
    this.explainUnknown = explainUnknown;
  }

  run(): void {
    while (this.next < this.args.length) {
      const arg = this.args[this.next++] as string;
      if (!this.isFlag(arg)) {
        if (this.isTop) {
          this.rest.push(arg, ...this.args.slice(this.next));
          break;
        }
        this.unknown.push(arg);
      } else this.readFlag(arg);
    }
    if (this.unknown.length > 0) this.problems.push(this.describeUnknownArguments());
  }

  /** Whether an argument is a flag. Negative numbers, a lone dash, and arguments with a space that name no flag are values. */
  private isFlag(arg: string): boolean {
    if (!arg.startsWith("-") || arg === "-" || NEGATIVE_NUMBER.test(arg)) return false;
    return !arg.includes(" ") || findOption(this.options, arg) !== undefined;
  }

  private describeUnknownArguments(): Problem {
    const names = this.options.flatMap((option) => option.names);
    const near = this.unknown
      .filter((argument) => argument.startsWith("--"))
      .map((argument) => argument.split("=")[0] as string)
      .map((typed) => this.findMeant(typed) ?? nearestName(typed, names))
      .filter((name) => name !== undefined);
    const hint = nearHint(near.join(", ") || undefined, "See --help for the flags there are.");
    return {
      code: "unknown-name",
      path: this.unknown[0] as string,
      message: `unrecognized arguments: ${this.unknown.join(" ")}`,
      hint: this.unknown.map(this.explainUnknown).find((one) => one !== undefined) ?? hint,
    };
  }

  /** Finds the option that has this name in another tool. */
  private findMeant(typed: string): string | undefined {
    return this.options.find(({ meant }) => meant?.includes(typed))?.names[0];
  }

  private readFlag(arg: string): void {
    const found = findOption(this.options, arg);
    if (found === undefined) {
      this.unknown.push(arg);
      return;
    }
    if (found.kind === "ambiguous") {
      this.fail(
        arg,
        `ambiguous option: ${arg} could match ${found.names.join(", ")}`,
        `Write out ${found.names.join(" or ")}.`,
      );
      // The following arguments are most likely its values, and are not reported separately.
      while (this.next < this.args.length && !this.isFlag(this.args[this.next] as string)) this.next++;
      return;
    }
    const { option, typed, attached } = found;
    if (option.count === "switch") this.readSwitch(option, typed, attached);
    else this.readValues(option, typed, attached);
  }

  /** Reads `-v`, `-vv`, and `-vp 5`: letters after a switch are also flags. */
  private readSwitch(option: O, typed: string, attached: string | undefined): void {
    this.given.push({ option, typed, values: [] });
    if (attached === undefined) return;
    const more = `-${attached}`;
    if (typed.startsWith("--") || this.options.every(({ names }) => !names.includes(more.slice(0, 2)))) {
      this.fail(
        typed,
        `argument ${spellingsOf(option)}: ignored explicit argument '${attached}'`,
        `Write ${typed} alone.`,
      );
      return;
    }
    this.readFlag(more);
  }

  private readValues(option: O, typed: string, attached: string | undefined): void {
    const values = attached === undefined ? [] : [attached];
    const most = option.count === "some" || option.count === "any" ? Number.POSITIVE_INFINITY : 1;
    if (attached === undefined)
      while (values.length < most && this.next < this.args.length && !this.isFlag(this.args[this.next] as string))
        values.push(this.args[this.next++] as string);
    if (values.length === 0 && option.count !== "any" && option.count !== "optional") {
      const expected =
        option.count === "some" ? "at least one argument" : option.count === "single" ? "1 argument" : "one argument";
      this.fail(typed, `argument ${spellingsOf(option)}: expected ${expected}`, `Write ${typed} and a value.`);
      return;
    }
    this.given.push({ option, typed, values });
  }

  private fail(path: string, message: string, hint: string): void {
    this.hasRampartProblems = true;
    this.problems.push(problem("invalid-value", path, message, hint));
  }
}

type Found<O> =
  | { readonly kind: "option"; readonly option: O; readonly typed: string; readonly attached: string | undefined }
  | { readonly kind: "ambiguous"; readonly names: readonly string[] };

/** Finds an option by exact name, then by an unambiguous prefix of a long name that is not Rampart's own, then by letter (`-p500`). */
function findOption<O extends ArgparseOption>(options: readonly O[], arg: string): Found<O> | undefined {
  const exact = (name: string): O | undefined =>
    options.find(({ names, documentedNames }) => names.includes(name) || documentedNames?.includes(name) === true);
  const whole = exact(arg);
  if (whole !== undefined) return { kind: "option", option: whole, typed: arg, attached: undefined };
  const equals = arg.indexOf("=");
  const typed = equals < 0 ? arg : arg.slice(0, equals);
  const attached = equals < 0 ? undefined : arg.slice(equals + 1);
  const named = equals < 0 ? undefined : exact(typed);
  if (named !== undefined) return { kind: "option", option: named, typed, attached };
  if (!arg.startsWith("--")) {
    const option = exact(arg.slice(0, 2));
    return option && { kind: "option", option, typed: arg.slice(0, 2), attached: arg.slice(2) };
  }
  const matches = options
    .filter(({ isRampart }) => isRampart !== true)
    .flatMap((option) => option.names.filter((name) => name.startsWith(typed)).map((name) => ({ option, name })));
  const first = matches[0];
  if (first === undefined) return undefined;
  if (matches.every(({ option }) => option === first.option))
    return { kind: "option", option: first.option, typed, attached };
  return { kind: "ambiguous", names: matches.map(({ name }) => name) };
}
