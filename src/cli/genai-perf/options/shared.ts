import { defined } from "../../../plan/defined.ts";
import type { SettingPath as PlanSettingPath } from "../../../plan/messages.ts";
import { userError } from "../../../plan/problem.ts";
import { withValue } from "../../options/place.ts";
import {
  defaultTextOf,
  fileKeyOf,
  formatNotation,
  type GivenValue,
  type PlanValue,
  readNotation,
  type SharedOption,
  toOutputPath,
  toPlanValue,
} from "../../options/shared-option.ts";
import { sharedOptions } from "../../options/shared-options.ts";
import { addTo } from "./flag-readers.ts";
import type { Entry, Land } from "./genai-option.ts";

/** The options that Rampart's other commands have too, as options of this mode. */

const SHARED = sharedOptions("genai-perf");

/** As the user gave it: durations in seconds. Each text of an option that may be repeated. An empty text or null stands for "not given". */
type SharedValue = string | number | boolean | null | readonly string[];

/** How a value is read, and what stands for "not given". */
const KINDS = {
  switch: ["boolean", false],
  file: ["path", ""],
  duration: ["duration", null],
  percent: ["percent", null],
  whole: ["integer", null],
  decimal: ["decimal", null],
  choice: ["text", ""],
  text: ["text", ""],
} as const satisfies Readonly<Record<SharedOption["kind"], readonly [Entry["kind"], SharedValue]>>;

/** An option with the mark of those that other commands have too: the types of their values are unknown. */
type SharedEntry = Entry & { readonly isShared: true };

/** The options. */
export const SHARED_OPTIONS = SHARED.map((shared): SharedEntry => {
  const { name, help, kind, value, setting, choices, min, max, unit, meant, isRepeatable } = shared;
  const key = sharedKeyOf(name);
  const defaultText = shared.default === undefined ? defaultTextOf(shared, false) : undefined;
  return {
    isShared: true,
    names: [`--${name}`],
    key,
    kind: KINDS[kind][0],
    default: defaultOf(shared),
    help,
    ...defined({ min, max, unit, meant, choices, defaultText, value }),
    ...(setting && { setting: setting as PlanSettingPath, within: [key], land: landShared(shared, setting) }),
    ...(isRepeatable && { isRepeatable, kind: "texts", count: "one", read: addTo(key) }),
  };
});

/** Returns the key in files of a shared option, by its name. */
export function sharedKeyOf(name: string): `rampart.${string}` {
  return `rampart.${name.replaceAll("-", "_")}`;
}

function defaultOf({ kind, default: value, isRepeatable }: SharedOption): SharedValue {
  if (isRepeatable === true) return [];
  return kind === "duration" && value !== undefined ? formatNotation(kind, value as number) : (value ?? KINDS[kind][1]);
}

/** Returns what puts a value into a plan. It throws a UserError for one that stands for none. */
function landShared(option: SharedOption, place: string): Land<GivenValue> {
  const { kind } = option;
  return (plan, given) => {
    const read = kind === "duration" || kind === "percent" ? readNotation(kind, String(given)) : given;
    const found: PlanValue = typeof read === "object" && "message" in read ? read : toPlanValue(option, read);
    if ("value" in found) return withValue(plan, place, found.value);
    const { message, hint, given: text = String(given) } = found;
    throw userError("invalid-value", { setting: place as PlanSettingPath }, message, hint, text);
  };
}

/** A file that the user asked for. */
export interface RampartFile {
  /** The name of the option's value. */
  readonly of: `rampart.${string}`;
  readonly path: string;
}

/** Returns the files that the user asked for besides those of the artifact folder. @param values of all options by their names */
export function rampartFilesOf(values: ReadonlyMap<string, unknown>): RampartFile[] {
  return SHARED.flatMap((option): RampartFile[] => {
    const of = sharedKeyOf(option.name);
    const given = values.get(of);
    return fileKeyOf(option) === undefined || given === "" ? [] : [{ of, path: toOutputPath(String(given)) }];
  });
}
