import type { SettingPath as PlanSettingPath } from "../../../plan/messages.ts";
import { userError } from "../../../plan/problem.ts";
import {
  defaultTextOf,
  fileKeyOf,
  formatNotation,
  type PlanValues,
  readNotation,
  type SharedOption,
  toOutputPath,
  toPlanValue,
} from "../../options/shared-option.ts";
import { sharedOptions } from "../../options/shared-options.ts";
import type { Entry } from "./genai-option.ts";
import type { GenaiSettings, SharedPath, SharedSetting } from "./settings.ts";

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

/** The options. */
export const SHARED_OPTIONS = SHARED.map((shared) => {
  const { name, help, kind, value, setting, choices, min, max, unit, meant } = shared;
  const defaultText = shared.default === undefined ? defaultTextOf(shared, false) : undefined;
  return {
    names: [`--${name}`],
    key: `rampart.${name.replaceAll("-", "_")}`,
    kind: KINDS[kind][0],
    at: `rampart.shared.${name}`,
    default: defaultOf(shared),
    help,
    ...(value === undefined ? {} : { value }),
    ...(setting === undefined ? {} : { setting: setting as PlanSettingPath }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(unit === undefined ? {} : { unit }),
    ...(meant === undefined ? {} : { meant }),
    ...(choices === undefined ? {} : { choices }),
    ...(defaultText === undefined ? {} : { defaultText }),
  } satisfies Entry as Entry & { readonly at: SharedPath };
});

function defaultOf({ kind, default: value }: SharedOption): SharedSetting {
  return kind === "duration" && value !== undefined ? formatNotation(kind, value as number) : (value ?? KINDS[kind][1]);
}

/** A file that the user asked for. */
export interface RampartFile {
  readonly at: SharedPath;
  readonly path: string;
}

/** Returns the files that the user asked for besides those of the artifact folder. */
export function rampartFilesOf({ rampart }: GenaiSettings): RampartFile[] {
  return SHARED.flatMap((option): RampartFile[] => {
    const given = rampart.shared[option.name];
    if (fileKeyOf(option) === undefined || given === "") return [];
    return [{ at: `rampart.shared.${option.name}`, path: toOutputPath(String(given)) }];
  });
}

/** Returns what the options put into a plan. @throws UserError */
export function sharedValues({ rampart }: GenaiSettings): PlanValues {
  const values = new Map<string, unknown>();
  for (const option of SHARED) {
    const { name, kind, setting: path } = option;
    const given = rampart.shared[name];
    if (path === undefined || given === null || given === undefined || given === defaultOf(option)) continue;
    const isNotated = kind === "duration" || kind === "percent";
    const read = isNotated ? readNotation(kind, String(given)) : (given as string | number | true);
    const found = typeof read === "object" ? read : toPlanValue(option, read);
    if ("message" in found)
      throw userError("invalid-value", { setting: path as PlanSettingPath }, found.message, found.hint, String(given));
    values.set(path, found.value);
  }
  return values;
}

/** Reports whether only a plan is asked for. */
export function isDryRun({ rampart }: GenaiSettings): boolean {
  return rampart.shared["dry-run"] === true;
}
