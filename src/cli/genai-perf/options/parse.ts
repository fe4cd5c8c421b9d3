import { nearestName } from "../../../plan/nearest-name.ts";
import type { Problem } from "../../../plan/problem.ts";
import { flagName, type GenaiFlag, SUBCOMMANDS, type SubcommandName } from "./flags.ts";
import { flagsOf } from "./subcommand-flags.ts";

/** Command lines by the rules of Python's argparse, which genai-perf follows; except that all problems are told, not the first. */

/** A flag as given. */
export interface GivenFlag {
  readonly flag: GenaiFlag;
  /** As the user typed it: `-p`, `--measurement-int`. */
  readonly typed: string;
  /** Empty for a switch, and for `optional` and `any` without a value. */
  readonly values: readonly string[];
}

/** What a command line holds. */
export type ParsedCommand =
  | { readonly kind: "help"; readonly subcommand: SubcommandName | undefined }
  | { readonly kind: "version" }
  /** Nothing can be run. `prog` is the parser that complains: `genai-perf` or `genai-perf profile`. */
  | {
      readonly kind: "usage";
      readonly subcommand: SubcommandName | undefined;
      readonly problems: readonly Problem[];
      /** What was recognised all the same; undefined without a subcommand. */
      readonly recognised: GivenCommand | undefined;
    }
  | GivenCommand;

/** A subcommand with its flags. */
export interface GivenCommand {
  readonly kind: "command";
  readonly subcommand: SubcommandName;
  readonly given: readonly GivenFlag[];
  /** What stands after `--`, for perf_analyzer. */
  readonly passThrough: readonly string[];
}

const NEGATIVE_NUMBER = /^-\d+$|^-\d*\.\d+$/;
const HELP: GenaiFlag = { names: ["-h", "--help"], shape: "switch", kind: "text", help: "Show this and exit." };
const VERSION: GenaiFlag = { names: ["--version"], shape: "switch", kind: "text", help: "Print the version and exit." };

/** The flags before a subcommand. */
export const TOP_FLAGS: readonly GenaiFlag[] = [HELP, VERSION];

/** `-h`, which every subcommand has. */
export const HELP_FLAG = HELP;

/** Splits what follows `genai-perf`. Never throws. */
export function parseCommand(args: readonly string[]): ParsedCommand {
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  const passThrough = end < 0 ? [] : args.slice(end + 1);
  const top = new Parser(TOP_FLAGS, own, true);
  top.run();
  if (top.given.some(({ flag }) => flag === HELP)) return { kind: "help", subcommand: undefined };
  if (top.given.length > 0) return { kind: "version" };
  const name = top.rest[0];
  if (name === undefined) return usage(undefined, [...top.problems, missingSubcommand()]);
  const subcommand = SUBCOMMANDS.find((known) => known === name);
  if (subcommand === undefined) return usage(undefined, [...top.problems, unknownSubcommand(name)]);
  const parser = new Parser([HELP, ...flagsOf(subcommand)], top.rest.slice(1), false);
  parser.run();
  if (parser.given.some(({ flag }) => flag === HELP)) return { kind: "help", subcommand };
  const together = checkGiven(subcommand, parser.given);
  const problems = [...top.problems, ...parser.problems, ...together];
  const isOwn = parser.hasOwnProblems || together.length > 0;
  const command: GivenCommand = { kind: "command", subcommand, given: parser.given, passThrough };
  return problems.length > 0 ? usage(isOwn ? subcommand : undefined, problems, command) : command;
}

function usage(
  subcommand: SubcommandName | undefined,
  problems: readonly Problem[],
  recognised?: GivenCommand,
): ParsedCommand {
  return { kind: "usage", subcommand, problems, recognised };
}

function missingSubcommand(): Problem {
  return {
    path: "genai-perf",
    message: "the following arguments are required: subcommand",
    hint: `Give one of ${SUBCOMMANDS.join(", ")}.`,
  };
}

function unknownSubcommand(name: string): Problem {
  const near = nearestName(name, SUBCOMMANDS);
  const choices = SUBCOMMANDS.map((choice) => `'${choice}'`).join(", ");
  return {
    path: "subcommand",
    message: `argument subcommand: invalid choice: '${name}' (choose from ${choices})`,
    hint: near === undefined ? "See genai-perf --help." : `Did you mean ${near}?`,
  };
}

/** Flags that must be there, and those that exclude each other. */
function checkGiven(subcommand: SubcommandName, given: readonly GivenFlag[]): Problem[] {
  const problems: Problem[] = [];
  const missing = flagsOf(subcommand).filter(
    (flag) => flag.isRequired === true && !given.some((one) => one.flag === flag),
  );
  if (missing.length > 0)
    problems.push({
      path: missing.map(flagName).join(", "),
      message: `the following arguments are required: ${missing.map(flagName).join(", ")}`,
      hint: `See genai-perf ${subcommand} --help.`,
    });
  for (const [index, { flag, typed }] of given.entries()) {
    const rival = given
      .slice(0, index)
      .find((one) => flag.excludes !== undefined && one.flag.excludes === flag.excludes && one.flag !== flag)?.flag;
    if (rival !== undefined)
      problems.push({
        path: typed,
        message: `argument ${flagName(flag)}: not allowed with argument ${flagName(rival)}`,
        hint: "Leave one of them out.",
      });
  }
  return problems;
}

class Parser {
  readonly given: GivenFlag[] = [];
  readonly problems: Problem[] = [];
  /** The top parser's: the subcommand and what follows it. */
  readonly rest: string[] = [];
  /** Set when a subcommand's own parser would complain; unknown arguments are the top parser's to tell. */
  hasOwnProblems = false;
  private readonly flags: readonly GenaiFlag[];
  private readonly args: readonly string[];
  private readonly isTop: boolean;
  private readonly strangers: string[] = [];
  private next = 0;

  constructor(flags: readonly GenaiFlag[], args: readonly string[], isTop: boolean) {
    this.flags = flags;
    this.args = args;
    this.isTop = isTop;
  }

  run(): void {
    while (this.next < this.args.length) {
      const arg = this.args[this.next++] as string;
      if (!this.isFlag(arg)) {
        if (this.isTop) {
          this.rest.push(arg, ...this.args.slice(this.next));
          break;
        }
        this.strangers.push(arg);
      } else this.readFlag(arg);
    }
    if (this.strangers.length > 0) this.problems.push(this.describeUnknownArguments());
  }

  /** Negative numbers, a lone dash, and what has a blank without naming a flag are values. */
  private isFlag(arg: string): boolean {
    if (!arg.startsWith("-") || arg === "-" || NEGATIVE_NUMBER.test(arg)) return false;
    return !arg.includes(" ") || findFlag(this.flags, arg) !== undefined;
  }

  private describeUnknownArguments(): Problem {
    const names = this.flags.flatMap((flag) => flag.names);
    const hints = this.strangers
      .filter((arg) => arg.startsWith("--"))
      .map((arg) => nearestName(arg.split("=")[0] as string, names))
      .filter((name) => name !== undefined);
    return {
      path: this.strangers[0] as string,
      message: `unrecognized arguments: ${this.strangers.join(" ")}`,
      hint:
        this.explainOld() ??
        (hints.length === 0 ? "See --help for the flags there are." : `Did you mean ${hints.join(", ")}?`),
    };
  }

  /** Examples in GenAI-Perf's documentation still have it. */
  private explainOld(): string | undefined {
    if (!this.strangers.some((arg) => arg.split("=")[0] === "--service-kind")) return undefined;
    return "Leave --service-kind out, as since GenAI-Perf 0.0.16: --endpoint-type says it.";
  }

  private readFlag(arg: string): void {
    const found = findFlag(this.flags, arg);
    if (found === undefined) {
      this.strangers.push(arg);
      return;
    }
    if (found.kind === "ambiguous") {
      this.fail(
        arg,
        `ambiguous option: ${arg} could match ${found.names.join(", ")}`,
        `Write out ${found.names.join(" or ")}.`,
      );
      // What follows is most likely its value: no problem of its own.
      while (this.next < this.args.length && !this.isFlag(this.args[this.next] as string)) this.next++;
      return;
    }
    const { flag, typed, attached } = found;
    if (flag.shape === "switch") this.readSwitch(flag, typed, attached);
    else this.readValues(flag, typed, attached);
  }

  /** `-v`, `-vv`, and `-vp 5`: letters after a switch are flags too. */
  private readSwitch(flag: GenaiFlag, typed: string, attached: string | undefined): void {
    this.given.push({ flag, typed, values: [] });
    if (attached === undefined) return;
    const more = `-${attached}`;
    if (typed.startsWith("--") || this.flags.every(({ names }) => !names.includes(more.slice(0, 2)))) {
      this.fail(typed, `argument ${flagName(flag)}: ignored explicit argument '${attached}'`, `Write ${typed} alone.`);
      return;
    }
    this.readFlag(more);
  }

  private readValues(flag: GenaiFlag, typed: string, attached: string | undefined): void {
    const values = attached === undefined ? [] : [attached];
    const most = flag.shape === "some" || flag.shape === "any" ? Number.POSITIVE_INFINITY : 1;
    if (attached === undefined)
      while (values.length < most && this.next < this.args.length && !this.isFlag(this.args[this.next] as string))
        values.push(this.args[this.next++] as string);
    if (values.length === 0 && flag.shape !== "any" && flag.shape !== "optional") {
      const expected =
        flag.shape === "some" ? "at least one argument" : flag.shape === "single" ? "1 argument" : "one argument";
      this.fail(typed, `argument ${flagName(flag)}: expected ${expected}`, `Write ${typed} and a value.`);
      return;
    }
    this.given.push({ flag, typed, values });
  }

  private fail(path: string, message: string, hint: string): void {
    this.hasOwnProblems = true;
    this.problems.push({ path, message, hint });
  }
}

type Found =
  | { readonly kind: "flag"; readonly flag: GenaiFlag; readonly typed: string; readonly attached: string | undefined }
  | { readonly kind: "ambiguous"; readonly names: readonly string[] };

/** By exact name, then by an unambiguous beginning of one of the original's long names, then by letter (`-p500`). */
function findFlag(flags: readonly GenaiFlag[], arg: string): Found | undefined {
  const exact = (name: string): GenaiFlag | undefined =>
    flags.find(({ names, documentedNames }) => names.includes(name) || documentedNames?.includes(name) === true);
  const whole = exact(arg);
  if (whole !== undefined) return { kind: "flag", flag: whole, typed: arg, attached: undefined };
  const equals = arg.indexOf("=");
  const typed = equals < 0 ? arg : arg.slice(0, equals);
  const attached = equals < 0 ? undefined : arg.slice(equals + 1);
  const named = equals < 0 ? undefined : exact(typed);
  if (named !== undefined) return { kind: "flag", flag: named, typed, attached };
  if (!arg.startsWith("--")) {
    const flag = exact(arg.slice(0, 2));
    return flag === undefined ? undefined : { kind: "flag", flag, typed: arg.slice(0, 2), attached: arg.slice(2) };
  }
  const matches = flags
    .filter(({ isOwn }) => isOwn !== true)
    .flatMap((flag) => flag.names.filter((name) => name.startsWith(typed)).map((name) => ({ flag, name })));
  const first = matches[0];
  if (first === undefined) return undefined;
  if (matches.every(({ flag }) => flag === first.flag)) return { kind: "flag", flag: first.flag, typed, attached };
  return { kind: "ambiguous", names: matches.map(({ name }) => name) };
}
