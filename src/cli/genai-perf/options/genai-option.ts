import type { ArgparseOption } from "../../options/argparse.ts";
import type { Option } from "../../options/option.ts";
import type { ValueAt } from "../../options/place.ts";
import type { GenaiSettings, SettingPath } from "./settings.ts";
import type { GivenSetting, SettingsBuilder } from "./settings-builder.ts";
import { VALUE_KINDS, type ValueKind } from "./value-kinds.ts";

/** What an option of genai-perf is: its flag, its key in YAML files, its value, and where that goes. */

/** Reads one occurrence of a flag. */
export type FlagReader = (builder: SettingsBuilder, values: readonly (string | number)[], from: GivenSetting) => void;

/** One option as its table states it. */
interface Entry
  extends Pick<Option<never, never>, "help" | "value" | "unit" | "choices" | "defaultText" | "isRepeatable" | "isOwn"> {
  /** All spellings with dashes, in the original's order; the first long one names the value. Absent for a key without a flag. */
  readonly names?: ArgparseOption["names"];
  /** Spellings that only the original's documents have. */
  readonly documentedNames?: readonly string[];
  readonly kind: ValueKind;
  /** How the flag's value is written, where files write it in another way. */
  readonly syntax?: string;
  /** How many values follow the flag, where the kind does not say it. */
  readonly count?: ArgparseOption["count"];
  /** Of the flag, where it takes less than a file does. */
  readonly flagKind?: "integer";
  /** The setting. Absent where a flag only takes part in one. */
  readonly at?: SettingPath;
  /** What the setting is when nobody gives it. Null stands for "not given". */
  readonly default?: unknown;
  /** Values that the original does not know: its usage and errors leave them out. */
  readonly ownChoices?: readonly string[];
  /** Bounds of a number, or of each number in a list. */
  readonly min?: number;
  readonly max?: number;
  /** The flag must be given. */
  readonly isRequired?: boolean;
  /** Flags of a subcommand with the same word here exclude each other. */
  readonly excludes?: "load" | "measurement";
  /** Recognised and read, but refused: it is not supported yet. */
  readonly isLater?: boolean;
  /** Does more than storing the flag's value. */
  readonly read?: FlagReader;
  /** In YAML files, with the groups above it: `input.audio.format`. */
  readonly key?: string;
  /** Another spelling of the key that files may use. */
  readonly alias?: string;
  /** Comment of the original's templates. */
  readonly note?: string;
  /** Templates show the comment only. */
  readonly isCommented?: boolean;
  /** An empty value in a file is an error and not "not given". */
  readonly needsValue?: boolean;
  /** A number that the original holds as a float also when nobody gave it, and prints as 1.0. */
  readonly isFloat?: boolean;
}

/** One option. */
export interface GenaiOption extends Entry {
  /** Heading in the help, like the original's. */
  readonly group: string;
  readonly count: ArgparseOption["count"];
}

/** An option with a flag. */
export type GenaiFlag = GenaiOption & ArgparseOption;

/** An option that files can give. */
export type KeyedOption = GenaiOption & { readonly key: string; readonly at: SettingPath };

/** What an option sets, and its default; checked against the setting's type. */
export function sets<const P extends SettingPath>(
  kind: ValueKind,
  at: P,
  fallback: ValueAt<P, GenaiSettings>,
  more: Pick<Entry, "min" | "max" | "unit" | "choices" | "flagKind"> = {},
): { readonly kind: ValueKind; readonly at: P; readonly default: unknown } & typeof more {
  return { kind, at, default: fallback, ...more };
}

/** Options below one heading of the help; `Rampart` has its own. */
export function inGroup<const T extends readonly Entry[]>(
  group: string,
  entries: T,
): readonly (T[number] & GenaiOption)[] {
  const own = group === "Rampart" ? { isOwn: true } : {};
  return entries.map((entry) => ({
    ...entry,
    group,
    ...own,
    count: entry.count ?? VALUE_KINDS[entry.kind].count ?? "one",
  }));
}

/** Whether an option has a flag. */
export function hasFlag(option: GenaiOption): option is GenaiFlag {
  return option.names !== undefined;
}

/** What an option is, in whole sentences: for help, and for comments in templates. */
export function describeOption({ help, unit, isLater }: GenaiOption): string {
  return [
    help,
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(isLater === true ? ["Not supported yet."] : []),
  ].join(" ");
}
