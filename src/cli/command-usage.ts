import { defined } from "../plan/objects.ts";
import type { CommandIo } from "./execute.ts";
import { endNotes, type Flag } from "./flags.ts";
import type { ArgparseOption } from "./options/argparse.ts";
import type { Option } from "./options/option.ts";

/** The arguments of a command, for completion in shells and the man page. Derived from the tables for parsing and help. */
export interface CommandUsage {
  readonly options: readonly ShownOption[];
  /** The positional argument. Absent: none. */
  readonly operand?: Operand;
  readonly subcommands?: readonly Subcommand[];
}

/** A command whose module is loaded. */
export interface LoadedCommand {
  /** Returns the arguments of the command, for completion and the man page, from the tables for parsing. */
  usage(): CommandUsage;
  /** Returns the exit code. @param command the command as it was called */
  run(args: readonly string[], command: string, io: CommandIo): Promise<number>;
}

/** A command of the executable. */
export interface ShownCommand {
  readonly name: string;
  readonly summary: string;
  readonly usage: CommandUsage;
}

/** A positional argument. */
export interface Operand {
  /** Placeholder in the synopsis. */
  readonly name: string;
  /** Words that it may be. Absent: a file, or any text. */
  readonly choices?: readonly string[];
  readonly takes: ValueKind;
}

/** A subcommand with options. */
export interface Subcommand extends Omit<CommandUsage, "subcommands"> {
  readonly name: string;
  readonly summary: string;
}

/** Kind of values that shells offer. `word`: one of the choices, or nothing. */
export type ValueKind = "file" | "folder" | "word";

/** One option. */
export interface ShownOption {
  /** All names, with their dashes. */
  readonly names: readonly string[];
  /** Placeholder of the value. Absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly takes: ValueKind;
  readonly help: string;
}

/** Returns a command whose flags are a table of `flags.ts`. */
export function commandOf(flags: readonly Flag[], run: LoadedCommand["run"], operand?: Operand): LoadedCommand {
  return { usage: () => usageOfFlags(flags, operand), run };
}

/** Describes a command whose flags are a table of `flags.ts`. */
export function usageOfFlags(flags: readonly Flag[], operand?: Operand): CommandUsage {
  const options = flags.map((flag): ShownOption => {
    const { name, short, value, choices, help } = flag;
    const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`];
    return {
      names,
      help: `${help}${endNotes(flag)}`,
      takes: kindOf(value),
      ...(value && { value }),
      ...(choices && { choices }),
    };
  });
  return { options, ...defined({ operand }) };
}

/** Describes an option of a compatible mode. */
export function showOption(
  { names, value, choices, help, defaultText, unit }: Omit<Option<never, never>, "read" | "group">,
  isFile = false,
): ShownOption {
  const notes = [
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(defaultText === undefined ? [] : [`Default: ${defaultText}.`]),
  ];
  return {
    names,
    takes: isFile ? "file" : kindOf(value),
    help: [help, ...notes].join(" "),
    ...defined({ value }),
    ...(choices === undefined ? {} : { choices: choices.map(String) }),
  };
}

/** Describes an option that is parsed like Python's argparse. Its default placeholder is its name. */
export function showArgparseOption(
  option: ArgparseOption & Omit<Option<never, never>, "read" | "group">,
  isFile: boolean,
): ShownOption {
  const name = option.names.find((one) => one.startsWith("--")) ?? option.names[0];
  const value = option.count === "switch" ? undefined : (option.value ?? name.replace(/^-+/, "").toUpperCase());
  const { value: _none, ...rest } = option;
  return showOption({ ...rest, ...defined({ value }) }, isFile);
}

/** Returns the kind of value that a placeholder such as FILE suggests. */
function kindOf(value: string | undefined): ValueKind {
  if (value === undefined) return "word";
  if (/\b(FILE|PATH|INPUT_PATH)\b/.test(value)) return "file";
  return /\b(DIR|FOLDER)\b/.test(value) ? "folder" : "word";
}
