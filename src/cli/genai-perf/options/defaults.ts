import { putValue } from "../../options/place.ts";
import type { GenaiSettings, SettingPath } from "./settings.ts";
import { ALL_OPTIONS } from "./subcommands.ts";

/** Settings without an option. */
const UNSET = {
  subcommand: "profile",
  passed: { given: [], positional: [], problems: [] },
} as const satisfies Partial<GenaiSettings>;

type PathOf<Option> = Option extends { readonly at: infer Path } ? Path : never;
type WithoutDefault = Exclude<
  SettingPath,
  PathOf<(typeof ALL_OPTIONS)[number]> | keyof typeof UNSET | "rampart.shared" | "rampart.plan"
>;
/** A compile error wherever the defaults are used if an option lacks the default of a setting. */
type CompleteSettings = [WithoutDefault] extends [never] ? GenaiSettings : { missing: WithoutDefault };

/** The default of each setting. */
export const DEFAULT_OF: ReadonlyMap<SettingPath, unknown> = new Map(
  ALL_OPTIONS.flatMap(({ at, default: value }) => (at === undefined || value === undefined ? [] : [[at, value]])),
);

/** Returns the defaults of all settings, from the option tables. A new object each time. */
export function defaultSettings(): CompleteSettings {
  const settings = structuredClone(UNSET) as unknown as GenaiSettings;
  for (const [at, value] of DEFAULT_OF) putValue(settings, at, structuredClone(value));
  return settings;
}
