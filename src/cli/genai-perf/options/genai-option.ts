import type { SettingPath as PlanSettingPath } from "../../../plan/messages.ts";
import type { Plan } from "../../../plan/plan.ts";
import { secToMs } from "../../../plan/units.ts";
import type { ArgparseOption } from "../../options/argparse.ts";
import type { Option } from "../../options/option.ts";
import { hasPlace, withValue } from "../../options/place.ts";
import type { LoadName } from "../loads.ts";
import { VALUE_KINDS, type ValueKind } from "./value-kinds.ts";
import type { ValueSource, ValuesBuilder } from "./values-builder.ts";

/** An option of genai-perf: its flag, its key in YAML files, its value, and the place of the value in the Plan. */

/** Reads one occurrence of a flag. */
export type FlagReader = (builder: ValuesBuilder, values: readonly (string | number)[], from: ValueSource) => void;

/** Puts a value into the plan of a profile. The values of earlier options in the tables are already there. */
export type Land<V> = (plan: Plan, value: V) => Plan;

/** An option in a table. */
export interface Entry
  extends Pick<
    Option<never, never>,
    "help" | "meant" | "value" | "unit" | "choices" | "defaultText" | "isRepeatable" | "isRampart"
  > {
  /** All names with dashes, in GenAI-Perf's order. The first long one is the placeholder of the value. Absent for a key without a flag. */
  readonly names?: ArgparseOption["names"];
  /** Names that appear only in GenAI-Perf's documentation. */
  readonly documentedNames?: readonly string[];
  readonly kind: ValueKind;
  /** Syntax of the flag's value, if it differs from files. */
  readonly syntax?: string;
  /** Number of the flag's values, if the kind does not determine it. */
  readonly count?: ArgparseOption["count"];
  /** Kind of the flag's value, if it accepts fewer values than a file. */
  readonly flagKind?: "integer";
  /** Path of the setting in the Plan, for texts about a run. */
  readonly setting?: PlanSettingPath;
  /** Load that the option needs. For other loads it has no effect on the plan. */
  readonly needs?: LoadName;
  /** Names of options that must differ from their defaults. Otherwise the plan lacks the part that this value belongs to. */
  readonly within?: readonly string[];
  /** Whether it affects the plan only if it is given, even with its default value. */
  readonly landsIfGiven?: boolean;
  /** Puts the value into a profile's plan. Not called for null. Absent: the value has no separate place in a plan. */
  readonly land?: Land<never>;
  /** Default of the value. Null means "not given". Absent if the flag sets only a part of another option's value. */
  readonly default?: unknown;
  /** Choices that Rampart adds. GenAI-Perf's usage and errors leave them out. */
  readonly ownChoices?: readonly string[];
  /** Bounds of a number, or of each number in a list. */
  readonly min?: number;
  readonly max?: number;
  readonly isRequired?: boolean;
  /** Flags of a subcommand with the same word here exclude each other. */
  readonly excludes?: "load" | "measurement";
  /** Reads the flag, if more is needed than storing its value. */
  readonly read?: FlagReader;
  /** Key in YAML files, with its parent groups: `input.audio.format`. */
  readonly key?: string;
  /** Alternative name of the key in files. */
  readonly alias?: string;
  /** Comment in GenAI-Perf's templates. */
  readonly note?: string;
  /** Whether templates show only the comment. */
  readonly isCommented?: boolean;
  /** Whether an empty value in a file is an error, instead of "not given". */
  readonly needsValue?: boolean;
  /** Whether GenAI-Perf stores it as a float even by default, and prints 1.0. */
  readonly isFloat?: boolean;
}

/** One option. */
export interface GenaiOption extends Entry {
  /** Heading in the help, like GenAI-Perf's. */
  readonly group: string;
  readonly count: ArgparseOption["count"];
}

/** An option with a flag. */
export type GenaiFlag = GenaiOption & ArgparseOption;

/** An option with a key in files. */
export type KeyedOption = GenaiOption & { readonly key: string };

/** Fields of an entry about its value. */
type OfValue = Pick<Entry, "min" | "max" | "unit" | "choices" | "flagKind">;
/** Fields of an entry about the place of its value in a plan. */
type OfLanding<V> = OfValue &
  Pick<Entry, "needs" | "within" | "landsIfGiven"> & {
    /** Converts the value to the plan's value; undefined: none. */
    readonly convert?: (value: NonNullable<V>) => unknown;
    /** True if it is used only at places where the plan already has a value. */
    readonly ifThere?: boolean;
  };

/** A value: numbers and booleans without their literal types. */
type Wide<V> = V extends number ? number : V extends boolean ? boolean : V;

/** Returns the kind and the default of a value that has no place, or several places, in a plan. */
export function holds<V>(
  kind: ValueKind,
  fallback: V,
  more: OfValue = {},
): { readonly kind: ValueKind; readonly default: Wide<V> } & OfValue {
  return { kind, default: fallback as Wide<V>, ...more };
}

/**
 * Returns the same for a value with a place in the plan: at paths, or set by a function. Seconds are converted to milliseconds for paths
 * in milliseconds, where 0 means none.
 */
export function lands<V>(
  kind: ValueKind,
  place: string | readonly string[] | Land<NonNullable<Wide<V>>>,
  fallback: V,
  { convert, ifThere = false, ...more }: OfLanding<Wide<V>> = {},
): { readonly kind: ValueKind; readonly default: Wide<V> } & Pick<Entry, "land"> & typeof more {
  const paths = typeof place === "function" ? [] : [place].flat();
  const isInMs = more.unit === "seconds" && paths.some((path) => path.endsWith("Ms"));
  const landAtPaths = (plan: Plan, value: NonNullable<Wide<V>>): Plan => {
    const inPlan = isInMs ? secToMs(Number(value)) || undefined : value;
    const landed = convert === undefined ? inPlan : convert(value);
    if (landed === undefined) return plan;
    const there = paths.filter((path) => !ifThere || hasPlace(plan, path));
    return there.reduce((changed, path) => withValue(changed, path, landed), plan);
  };
  return { kind, default: fallback as Wide<V>, land: typeof place === "function" ? place : landAtPaths, ...more };
}

/** Adds the help heading to options. `Rampart` is the heading of Rampart's own options. */
export function inGroup<const T extends readonly Entry[]>(
  group: string,
  entries: T,
): readonly (T[number] & GenaiOption)[] {
  const origin = group === "Rampart" ? { isRampart: true } : {};
  return entries.map((entry) => ({
    ...entry,
    group,
    ...origin,
    count: entry.count ?? VALUE_KINDS[entry.kind].count ?? "one",
  }));
}

/** Reports whether an option has a flag. */
export function hasFlag(option: GenaiOption): option is GenaiFlag {
  return option.names !== undefined;
}

/** Returns the name of an option's value: its key in files, or its first flag. */
export function valueNameOf({ key, names }: Pick<Entry, "key" | "names">): string {
  return key ?? names?.[0] ?? "";
}

/** Describes an option in whole sentences, for help and for comments in templates. */
export function describeOption({ help, unit }: GenaiOption): string {
  return unit === undefined ? help : `${help} In ${unit}.`;
}
