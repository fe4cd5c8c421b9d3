import { nearestName } from "../../../plan/nearest-name.ts";
import type { Problem } from "../../../plan/problem.ts";
import type { Field } from "./field.ts";
import { defaultSettings, type GenaiSettings, type SettingPath, setSetting } from "./settings.ts";

/** Where a setting came from. */
export interface GivenSetting {
  /** The flag as typed, or `cfg.yaml:3:5`. */
  readonly place: string;
  readonly source: "flag" | "file";
  /** Set for numbers that Python would hold as a float: its JSON writes 20.0 where it writes 20 for whole numbers. */
  readonly isFloat: boolean;
}

/** Settings that somebody gave, by path. */
export type GivenSettings = ReadonlyMap<SettingPath, GivenSetting>;

/** Collects settings from flags and a file, and everything that is wrong with them. */
export class SettingsBuilder {
  readonly settings: GenaiSettings = defaultSettings();
  readonly given = new Map<SettingPath, GivenSetting>();
  readonly problems: Problem[] = [];

  /** Stores a value of the right type, if its field's range and choices allow it. */
  set(field: Field, value: unknown, from: GivenSetting): void {
    const problem = checkValue(field, value, from.place);
    if (problem === undefined) this.store(field.at, value, from);
    else this.problems.push(problem);
  }

  /** Stores a value that needs no check. */
  store(at: SettingPath, value: unknown, from: GivenSetting): void {
    setSetting(this.settings, at, value);
    this.given.set(at, from);
  }

  fail(path: string, message: string, value: string | undefined, hint: string): void {
    this.problems.push({ path, message, hint, ...(value === undefined ? {} : { value }) });
  }
}

/** What a field's range or choices have against a value, in the original's words; for a list, against its first bad item. */
function checkValue(field: Field, value: unknown, path: string): Problem | undefined {
  for (const item of Array.isArray(value) ? value : [value]) {
    if (typeof item === "number") {
      const problem = checkRange(field, item, path);
      if (problem !== undefined) return problem;
    }
    if (field.choices === undefined || typeof item === "object" || field.choices.includes(item)) continue;
    const choices = field.choices.map(String);
    const near = nearestName(String(item), choices);
    return {
      path,
      message: `User Config: ${item} not in list of choices: [${field.choices.map(quote).join(", ")}]`,
      value: String(item),
      hint: near === undefined ? `Give one of ${choices.join(", ")}.` : `Did you mean ${near}?`,
    };
  }
  return undefined;
}

function checkRange(field: Field, value: number, path: string): Problem | undefined {
  const bounds = formatBounds(field);
  if (field.max !== undefined && value > field.max)
    return {
      path,
      message: `User Config: ${value} exceeds upper bounds (${bounds})`,
      value: String(value),
      hint: `Give ${field.max} or less.`,
    };
  if (field.min !== undefined && value < field.min)
    return {
      path,
      message: `User Config: ${value} exceeds lower bounds (${bounds})`,
      value: String(value),
      hint: `Give ${field.min} or more.`,
    };
  return undefined;
}

function formatBounds({ min, max }: Field): string {
  const parts = [...(min === undefined ? [] : [`'lower': ${min}`]), ...(max === undefined ? [] : [`'upper': ${max}`])];
  return `{${parts.join(", ")}}`;
}

function quote(choice: string | number): string {
  return typeof choice === "string" ? `'${choice}'` : String(choice);
}
