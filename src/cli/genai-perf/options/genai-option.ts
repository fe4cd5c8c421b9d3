import type { SettingPath as PlanSettingPath } from "../../../plan/messages.ts";
import type { Plan } from "../../../plan/plan.ts";
import { secToMs } from "../../../plan/units.ts";
import type { ArgparseOption } from "../../options/argparse.ts";
import type { Option } from "../../options/option.ts";
import { type ValueAt, valueAt, withValue } from "../../options/place.ts";
import type { LoadName } from "../loads.ts";
import type { GenaiSettings, LandedPath, SettingPath } from "./settings.ts";
import type { GivenSetting, SettingsBuilder } from "./settings-builder.ts";
import { VALUE_KINDS, type ValueKind } from "./value-kinds.ts";

/** An option of genai-perf: its flag, its key in YAML files, its value, and its setting. */

/** Reads one occurrence of a flag. */
export type FlagReader = (builder: SettingsBuilder, values: readonly (string | number)[], from: GivenSetting) => void;

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
  /** Path of the setting. Absent if the flag sets only a part of one. */
  readonly at?: SettingPath;
  /** Path in the Plan of what it sets, as texts about a run name it. */
  readonly setting?: PlanSettingPath;
  /** The load that it needs. */
  readonly needs?: LoadName;
  /** Puts the setting into a profile's plan. Not called for the default and for another load than it needs. */
  readonly land?: (plan: Plan, settings: GenaiSettings) => Plan;
  /** Default of the setting. Null stands for "not given". */
  readonly default?: unknown;
  /** Choices that Rampart adds. GenAI-Perf's usage and errors leave them out. */
  readonly ownChoices?: readonly string[];
  /** Bounds of a number, or of each number in a list. */
  readonly min?: number;
  readonly max?: number;
  /** Whether the flag is required. */
  readonly isRequired?: boolean;
  /** Flags of a subcommand with the same word here exclude each other. */
  readonly excludes?: "load" | "measurement";
  /** Reads the flag if storing its value is not enough. */
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
export type KeyedOption = GenaiOption & { readonly key: string; readonly at: SettingPath };

/** Returns an option's setting and default, checked against the setting's type. */
export function sets<const P extends SettingPath>(
  kind: ValueKind,
  at: P,
  fallback: ValueAt<P, GenaiSettings>,
  more: Pick<Entry, "min" | "max" | "unit" | "choices" | "flagKind"> = {},
): { readonly kind: ValueKind; readonly at: P; readonly default: unknown } & typeof more {
  return { kind, at, default: fallback, ...more };
}

/** Returns an option whose value lands at a path of the plan, unless it is not given. 0 seconds mean none; a plan has milliseconds. */
export function lands(
  kind: ValueKind,
  path: string,
  more: Parameters<typeof sets>[3] & Pick<Entry, "needs"> = {},
): { readonly kind: ValueKind; readonly at: LandedPath; readonly default: null } & Pick<Entry, "land"> & typeof more {
  const land: Entry["land"] = (plan, { rampart }) => {
    const value = valueAt(rampart.plan, path);
    if (more.unit !== "seconds") return withValue(plan, path, value);
    return value === 0 ? plan : withValue(plan, path, secToMs(Number(value)));
  };
  return { kind, at: `rampart.plan.${path}`, default: null, land, ...more };
}

/** Adds the help heading to options. `Rampart` is the heading of its own options. */
export function inGroup<const T extends readonly Entry[]>(
  group: string,
  entries: T,
): readonly (T[number] & GenaiOption)[] {
  const own = group === "Rampart" ? { isRampart: true } : {};
  return entries.map((entry) => ({
    ...entry,
    group,
    ...own,
    count: entry.count ?? VALUE_KINDS[entry.kind].count ?? "one",
  }));
}

/** Reports whether an option has a flag. */
export function hasFlag(option: GenaiOption): option is GenaiFlag {
  return option.names !== undefined;
}

/** Describes an option in whole sentences, for help and for comments in templates. */
export function describeOption({ help, unit }: GenaiOption): string {
  return unit === undefined ? help : `${help} In ${unit}.`;
}
