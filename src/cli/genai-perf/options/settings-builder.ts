import { nearestName } from "../../../plan/nearest-name.ts";
import { type Problem, problem } from "../../../plan/problem.ts";
import { putValue } from "../../options/place.ts";
import type { GenaiSettings, SettingPath } from "./settings.ts";

/** Source of a setting. */
export interface GivenSetting {
  /** The flag as typed, or `cfg.yaml:3:5`. */
  readonly place: string;
  readonly source: "flag" | "file";
  /** Whether the number is a float in Python, whose JSON then has 20.0 instead of 20. */
  readonly isFloat: boolean;
}

/** Given settings, by path. */
export type GivenSettings = ReadonlyMap<SettingPath, GivenSetting>;

/** Returns the last occurrence of a flag by its first name; undefined when it is not given. */
export type LastFlag = (
  name: string,
) => { readonly value: string | number | undefined; readonly from: GivenSetting } | undefined;

/** The values that an option allows. */
export interface ValueLimits {
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly (string | number)[];
  /** Choices that Rampart adds. */
  readonly ownChoices?: readonly string[];
}

/** Collects settings from flags and a file, and all problems with them. */
export class SettingsBuilder {
  readonly settings: GenaiSettings;
  readonly given = new Map<SettingPath, GivenSetting>();
  readonly problems: Problem[] = [];

  /** @param settings initial settings */
  constructor(settings: GenaiSettings) {
    this.settings = settings;
  }

  /** Stores a value of the right type if the option's range and choices allow it. */
  set(at: SettingPath, value: unknown, from: GivenSetting, limits: ValueLimits): void {
    const problem = checkValue(limits, value, from.place);
    if (problem === undefined) this.store(at, value, from);
    else this.problems.push(problem);
  }

  /** Stores a value without checks. */
  store(at: SettingPath, value: unknown, from: GivenSetting): void {
    putValue(this.settings, at, value);
    this.given.set(at, from);
  }

  fail(path: string, message: string, value: string | undefined, hint: string): void {
    this.problems.push(problem("invalid-value", path, message, hint, value));
  }
}

/** Checks a value against an option's range and choices, with GenAI-Perf's messages. For a list, reports the first invalid item. */
function checkValue(limits: ValueLimits, value: unknown, path: string): Problem | undefined {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, choices, ownChoices = [] } = limits;
  const all = choices === undefined ? undefined : [...choices, ...ownChoices];
  for (const item of Array.isArray(value) ? value : [value]) {
    if (typeof item === "number" && (item > max || item < min)) {
      const message = `User Config: ${item} exceeds ${item > max ? "upper" : "lower"} bounds (${formatBounds(limits)})`;
      const hint = item > max ? `Give ${max} or less.` : `Give ${min} or more.`;
      return problem("invalid-value", path, message, hint, String(item));
    }
    if (all === undefined || typeof item === "object" || all.includes(item)) continue;
    const near = nearestName(String(item), all.map(String));
    const message = `User Config: ${item} not in list of choices: [${listChoices(all)}]`;
    const hint = near === undefined ? `Give one of ${all.join(", ")}.` : `Did you mean ${near}?`;
    return problem("invalid-value", path, message, hint, String(item));
  }
  return undefined;
}

function formatBounds({ min, max }: ValueLimits): string {
  const parts = [...(min === undefined ? [] : [`'lower': ${min}`]), ...(max === undefined ? [] : [`'upper': ${max}`])];
  return `{${parts.join(", ")}}`;
}

/** Formats choices like a list in Python, without brackets. */
export function listChoices(choices: readonly (string | number)[]): string {
  return choices.map((choice) => (typeof choice === "string" ? `'${choice}'` : choice)).join(", ");
}
