import { defined } from "../../../plan/defined.ts";
import type { SettingPath as PlanSettingPath } from "../../../plan/messages.ts";
import { userError } from "../../../plan/problem.ts";
import {
  defaultTextOf,
  fileKeyOf,
  formatNotation,
  type GivenValue,
  type PlanValue,
  type PlanValues,
  readNotation,
  type SharedOption,
  toOutputPath,
  toPlanValue,
} from "../../options/shared-option.ts";
import { sharedOptions } from "../../options/shared-options.ts";
import { addTo } from "./flag-readers.ts";
import type { Entry } from "./genai-option.ts";
import type { SharedPath, SharedSetting, SharedSettings } from "./settings.ts";

/** The options that Rampart's other commands have too: as options of this mode, and what they put into the plan. */

const SHARED = sharedOptions("genai-perf");

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
} as const satisfies Readonly<Record<SharedOption["kind"], readonly [Entry["kind"], SharedSetting]>>;

/** No text of an option that may be repeated. */
const NOTHING: readonly string[] = [];

/** The options. */
export const SHARED_OPTIONS = SHARED.map((shared) => {
  const { name, help, kind, value, setting, choices, min, max, unit, meant, isRepeatable } = shared;
  const at: SharedPath = `rampart.shared.${name}`;
  const defaultText = shared.default === undefined ? defaultTextOf(shared, false) : undefined;
  return {
    names: [`--${name}`],
    key: `rampart.${name.replaceAll("-", "_")}`,
    kind: KINDS[kind][0],
    at,
    default: defaultOf(shared),
    help,
    ...(value === undefined ? {} : { value }),
    ...(setting === undefined ? {} : { setting: setting as PlanSettingPath }),
    ...defined({ min, max, unit, meant, choices, defaultText }),
    ...(isRepeatable === undefined ? {} : { isRepeatable, kind: "texts", count: "one", read: addTo(at) }),
  } satisfies Entry as Entry & { readonly at: SharedPath };
});

function defaultOf({ kind, default: value, isRepeatable }: SharedOption): SharedSetting {
  if (isRepeatable === true) return NOTHING;
  return kind === "duration" && value !== undefined ? formatNotation(kind, value as number) : (value ?? KINDS[kind][1]);
}

function isDefault(given: SharedSetting, option: SharedOption): boolean {
  return typeof given === "object" && given !== null ? given.length === 0 : given === defaultOf(option);
}

/** A file that the user asked for. */
export interface RampartFile {
  readonly at: SharedPath;
  readonly path: string;
}

/** Returns the files that the user asked for besides those of the artifact folder. */
export function rampartFilesOf(shared: SharedSettings): RampartFile[] {
  return SHARED.flatMap((option): RampartFile[] => {
    const given = shared[option.name];
    if (fileKeyOf(option) === undefined || given === "") return [];
    return [{ at: `rampart.shared.${option.name}`, path: toOutputPath(String(given)) }];
  });
}

/** Returns what the options put into a plan. @throws UserError */
export function sharedValues(shared: SharedSettings): PlanValues {
  const values = new Map<string, unknown>();
  for (const option of SHARED) {
    const { name, kind, setting: path } = option;
    const given = shared[name];
    if (path === undefined || given === null || given === undefined || isDefault(given, option)) continue;
    const isNotated = kind === "duration" || kind === "percent";
    const read = isNotated ? readNotation(kind, String(given)) : (given as GivenValue);
    const found: PlanValue = typeof read === "object" && "message" in read ? read : toPlanValue(option, read);
    if ("message" in found) {
      const { message, hint, given: text = String(given) } = found;
      throw userError("invalid-value", { setting: path as PlanSettingPath }, message, hint, text);
    }
    values.set(path, found.value);
  }
  return values;
}

/** Reports whether only a plan is asked for. */
export function isDryRun(shared: SharedSettings): boolean {
  return shared["dry-run"] === true;
}
