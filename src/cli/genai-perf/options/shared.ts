import type { SettingPath as PlanSettingPath } from "../../../plan/messages.ts";
import { defined } from "../../../plan/objects.ts";
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

/** Options that Rampart's other commands also have, as options of this mode. */

const SHARED = sharedOptions("genai-perf");

/** Value as the user gave it: durations in seconds, all texts of a repeated option. An empty text or null means "not given". */
type SharedValue = string | number | boolean | null | readonly string[];

/** Reading of each kind of value, and the value that means "not given". */
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

/** An option marked as shared with other commands: the type of its value is unknown. */
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

/** Returns the key of a shared option in files, by its name. */
export function sharedKeyOf(name: string): `rampart.${string}` {
  return `rampart.${name.replaceAll("-", "_")}`;
}

function defaultOf({ kind, default: value, isRepeatable }: SharedOption): SharedValue {
  if (isRepeatable === true) return [];
  return kind === "duration" && value !== undefined ? formatNotation(kind, value as number) : (value ?? KINDS[kind][1]);
}

/** Returns a function that puts a value into a plan. It throws a UserError for an invalid value. */
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

/** A file that the user requested. */
export interface RampartFile {
  /** The name of the option's value. */
  readonly of: `rampart.${string}`;
  readonly path: string;
}

/** Returns the files that the user requested, besides those of the artifact folder. @param values values of all options by name */
export function rampartFilesOf(values: ReadonlyMap<string, unknown>): RampartFile[] {
  return SHARED.flatMap((option): RampartFile[] => {
    const of = sharedKeyOf(option.name);
    const given = values.get(of);
    return fileKeyOf(option) === undefined || given === "" ? [] : [{ of, path: toOutputPath(String(given)) }];
  });
}
