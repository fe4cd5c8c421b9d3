import type { SettingPath } from "./settings.ts";

/** The flags of genai-perf's subcommands as typed tables: parsing, usage, help and tests are made from them. */

/** What a user types after `genai-perf`, in the original's order. */
export const SUBCOMMANDS = ["config", "profile", "analyze", "create-template", "process-export-files"] as const;

/** A subcommand as typed. */
export type SubcommandName = (typeof SUBCOMMANDS)[number];

/** Headings of the help, as the original has them, and Rampart's own. */
export type FlagGroup =
  | "Config"
  | "Template"
  | "Analyze"
  | "Audio Input"
  | "Endpoint"
  | "Image Input"
  | "Input"
  | "Process Export Files"
  | "Output"
  | "Profiling"
  | "Session"
  | "Tokenizer"
  | "Other"
  | "Rampart";

/**
 * How values follow: none; one; one or more; any number; exactly one as a list; one per repetition of the flag, all kept; at most one.
 * All but `append` count the last one when repeated.
 */
export type FlagShape = "switch" | "one" | "some" | "any" | "single" | "append" | "optional";

/** How a value is read. `positive` is a whole number above 0; `file` must exist unless it begins with `synthetic:` or `payload`. */
export type ValueKind = "text" | "integer" | "decimal" | "positive" | "file";

/** One flag. */
export interface GenaiFlag {
  /** All spellings with dashes; the first long one names the value. In the original's order. */
  readonly names: readonly [string, ...string[]];
  /** Spellings that only the original's documents have. */
  readonly documentedNames?: readonly string[];
  readonly shape: FlagShape;
  readonly kind: ValueKind;
  /** What it sets. Absent where a reader in `flag-readers.ts` does more than storing the value. */
  readonly at?: SettingPath;
  /** What stands for the value in usage, when it is not the name in capitals. */
  readonly metavar?: string;
  readonly choices?: readonly (string | number)[];
  /** Values that the original does not know: its usage and errors leave them out. */
  readonly ownChoices?: readonly string[];
  readonly isRequired?: boolean;
  /** Flags of a subcommand with the same word here exclude each other. */
  readonly excludes?: "load" | "measurement";
  readonly unit?: string;
  /** The default in words, where the settings' default does not say it. */
  readonly default?: string;
  readonly help: string;
  /** Rampart's own flag: it takes no part in abbreviations, and usage leaves it out. */
  readonly isOwn?: boolean;
  /** Recognised and read, but nothing obeys it yet. */
  readonly isLater?: boolean;
}

/** A heading with its flags. */
export interface FlagSection {
  readonly group: FlagGroup;
  readonly flags: readonly GenaiFlag[];
}

/** A flag as messages name it: all spellings, joined by slashes. */
export function flagName(flag: GenaiFlag): string {
  return flag.names.join("/");
}

/** The key that the original stores the value under; its capitals stand for the value in usage. */
export function destinationOf(flag: GenaiFlag): string {
  const long = flag.names.find((name) => name.startsWith("--")) ?? flag.names[0];
  return long.replace(/^-+/, "").replaceAll("-", "_");
}
