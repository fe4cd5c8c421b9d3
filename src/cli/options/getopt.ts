import { nearestName, nearHint } from "../../plan/nearest-name.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Option } from "./option.ts";

/** Parses command lines like GNU `getopt_long`, for any table of options. */

type Entry = Pick<Option<never, never>, "names" | "value" | "switchWords" | "isRampart" | "meant">;

/** An option that was given. */
export interface GivenOption<O> {
  readonly option: O;
  /** Name as the user typed it: `-p`, `--measurement-int`. */
  readonly typed: string;
  /** Value; undefined for a switch without a word. */
  readonly value: string | undefined;
}

/** The contents of a command line. */
export interface ParsedOptions<O> {
  readonly given: readonly GivenOption<O>[];
  readonly positional: readonly string[];
  readonly problems: readonly Problem[];
}

const SEE_HELP = "See --help for the flags there are.";

/** Parses the arguments. Collects all problems and does not throw. */
export function parseGetopt<O extends Entry>(table: readonly O[], args: readonly string[]): ParsedOptions<O> {
  const parser = new Parser(table, args);
  parser.run();
  return parser;
}

class Parser<O extends Entry> implements ParsedOptions<O> {
  readonly given: GivenOption<O>[] = [];
  readonly positional: string[] = [];
  readonly problems: Problem[] = [];
  private readonly table: readonly O[];
  private readonly args: readonly string[];
  private next = 0;

  constructor(table: readonly O[], args: readonly string[]) {
    this.table = table;
    this.args = args;
  }

  run(): void {
    while (this.next < this.args.length) {
      const arg = this.args[this.next++] as string;
      if (arg === "--") {
        this.positional.push(...this.args.slice(this.next));
        return;
      }
      if (arg.startsWith("--")) this.readLong(arg);
      else if (arg.startsWith("-") && arg !== "-") this.readShorts(arg);
      else this.positional.push(arg);
    }
  }

  private readLong(arg: string): void {
    const equals = arg.indexOf("=");
    const typed = equals < 0 ? arg : arg.slice(0, equals);
    const attached = equals < 0 ? undefined : arg.slice(equals + 1);
    const option = this.findLong(typed);
    if (typeof option === "string")
      this.problems.push(problem("unknown-name", typed, `Invalid long option '${typed}'`, option));
    else if (option.value !== undefined) this.take(option, typed, attached ?? this.nextValue());
    else if (attached === undefined || option.switchWords !== undefined)
      this.given.push({ option, typed, value: attached ?? this.nextWord(option) });
    else
      this.problems.push(
        problem("invalid-value", typed, `Option '${typed}' takes no value`, `Write ${typed} alone.`, attached),
      );
  }

  /** Finds an exact name, or an unambiguous prefix of a name that is not Rampart's own. Returns a hint if there is none. */
  private findLong(typed: string): O | string {
    const exact = this.table.find(({ names }) => names.includes(typed));
    if (exact !== undefined) return exact;
    const matches = this.table.filter(
      ({ names, isRampart }) => isRampart !== true && typed !== "--" && names.some((name) => name.startsWith(typed)),
    );
    const [first, second] = matches;
    if (first !== undefined && second === undefined) return first;
    if (first !== undefined) return `It could be ${matches.map(({ names }) => names[0]).join(", ")}: write it out.`;
    const known = this.table.find(({ meant }) => meant?.includes(typed));
    if (known !== undefined) return `Did you mean ${known.names[0]}?`;
    const long = this.table.flatMap(({ names }) => names.filter((name) => name.startsWith("--")));
    const bare = long.map((name) => name.slice(2));
    const near = nearestName(typed.slice(2), bare);
    return nearHint(near && `--${near}`, SEE_HELP);
  }

  /** Reads `-vv`, `-b4`, `-p 1000`: a value is the rest of the argument or the next argument. */
  private readShorts(arg: string): void {
    for (let i = 1; i < arg.length; i++) {
      const typed = `-${arg[i]}`;
      const option = this.table.find(({ names }) => names.includes(typed));
      if (option === undefined) {
        this.problems.push(problem("unknown-name", typed, `Invalid short option '${typed}'`, SEE_HELP));
        return;
      }
      if (option.value !== undefined) {
        const rest = arg.slice(i + 1);
        this.take(option, typed, rest === "" ? this.nextValue() : rest);
        return;
      }
      this.given.push({ option, typed, value: undefined });
    }
  }

  private nextValue(): string | undefined {
    return this.next < this.args.length ? this.args[this.next++] : undefined;
  }

  /** Returns the next argument if it is a valid word for the switch. */
  private nextWord({ switchWords = [] }: O): string | undefined {
    return switchWords.includes(this.args[this.next] ?? "") ? this.args[this.next++] : undefined;
  }

  private take(option: O, typed: string, value: string | undefined): void {
    if (value !== undefined) this.given.push({ option, typed, value });
    else
      this.problems.push(
        problem("missing", typed, `Missing value for option '${typed}'`, `Write ${typed} ${option.value}.`),
      );
  }
}
