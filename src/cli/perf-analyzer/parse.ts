import { nearestName } from "../../plan/nearest-name.ts";
import type { Problem } from "../../plan/problem.ts";
import { allFlags, type FlagSpec, flagName, laterFlags, OBEYED_FLAGS } from "./flags.ts";

/** Command lines by the rules of GNU `getopt_long`, which perf_analyzer follows. */

/** A flag as given. */
export interface GivenFlag {
  readonly flag: FlagSpec;
  /** As the user typed it: `-p`, `--measurement-int`. */
  readonly typed: string;
  /** Undefined for a switch. */
  readonly value: string | undefined;
}

/** What a command line holds. Positional arguments are ignored, as in the original, but told. */
export interface ParsedFlags {
  readonly given: readonly GivenFlag[];
  readonly positional: readonly string[];
  readonly problems: readonly Problem[];
}

/** Splits the arguments. Every problem is collected; nothing is thrown. */
export function parseFlags(args: readonly string[]): ParsedFlags {
  const parser = new Parser(args);
  parser.run();
  return parser;
}

class Parser implements ParsedFlags {
  readonly given: GivenFlag[] = [];
  readonly positional: string[] = [];
  readonly problems: Problem[] = [];
  private readonly args: readonly string[];
  private next = 0;

  constructor(args: readonly string[]) {
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
    const flag = this.findLong(typed.slice(2));
    if (typeof flag === "string") {
      this.problems.push({ path: typed, message: `Invalid long option '${typed}'`, hint: flag });
      return;
    }
    if (flag.value === undefined) {
      if (attached === undefined) this.given.push({ flag, typed, value: undefined });
      else
        this.problems.push({
          path: typed,
          message: `Option '${typed}' takes no value`,
          value: attached,
          hint: `Write ${typed} alone.`,
        });
      return;
    }
    this.take(flag, typed, attached ?? this.nextValue());
  }

  /** An exact name, or an unambiguous beginning of one of the original's; otherwise what to do. */
  private findLong(name: string): FlagSpec | string {
    for (const flag of OBEYED_FLAGS) if (flag.name === name && name !== "") return flag;
    const flags = allFlags();
    for (const flag of flags) if (flag.name === name && name !== "") return flag;
    const matches = flags.filter((flag) => flag.isOwn !== true && name !== "" && flag.name.startsWith(name));
    if (matches.length === 1) return matches[0] as FlagSpec;
    if (matches.length > 1) return `It could be ${matches.map(flagName).join(", ")}: write it out.`;
    const close = closest(name);
    return close === undefined ? "See --help for the flags there are." : `Did you mean ${flagName(close)}?`;
  }

  /** `-vv`, `-b4`, `-p 1000`: a value is the rest of the argument or the next one. */
  private readShorts(arg: string): void {
    for (let i = 1; i < arg.length; i++) {
      const letter = arg[i] as string;
      const flag = findShort(letter);
      if (flag === undefined) {
        this.problems.push({
          path: `-${letter}`,
          message: `Invalid short option '-${letter}'`,
          hint: "See --help for the flags there are.",
        });
        return;
      }
      if (flag.value === undefined) {
        this.given.push({ flag, typed: `-${letter}`, value: undefined });
        continue;
      }
      const rest = arg.slice(i + 1);
      this.take(flag, `-${letter}`, rest === "" ? this.nextValue() : rest);
      return;
    }
  }

  private nextValue(): string | undefined {
    return this.next < this.args.length ? this.args[this.next++] : undefined;
  }

  private take(flag: FlagSpec, typed: string, value: string | undefined): void {
    if (value === undefined) {
      this.problems.push({
        path: typed,
        message: `Missing value for option '${typed}'`,
        hint: `Write ${typed} ${flag.value}.`,
      });
      return;
    }
    this.given.push({ flag, typed, value });
  }
}

function findShort(letter: string): FlagSpec | undefined {
  for (const flag of OBEYED_FLAGS) if (flag.short === letter) return flag;
  return laterFlags().find((flag) => flag.short === letter);
}

/** The flag whose name is nearest, when it is near enough to be a slip. */
function closest(name: string): FlagSpec | undefined {
  const flags = allFlags().filter((flag) => flag.name !== "");
  const near = nearestName(
    name,
    flags.map((flag) => flag.name),
  );
  return flags.find((flag) => flag.name === near);
}
