import { nameHint } from "../../../plan/nearest-name.ts";
import { type Problem, problem } from "../../../plan/problem.ts";
import type { PassedFlags } from "./passed-flags.ts";

/** Source of a value. */
export interface ValueSource {
  /** The flag as typed, or `cfg.yaml:3:5`. */
  readonly place: string;
  readonly source: "flag" | "file";
  /** Whether the number is a float in Python, whose JSON then contains 20.0 instead of 20. */
  readonly isFloat: boolean;
}

/** The subcommands except `config`, which is replaced by the one that its file requests. */
export type Subcommand = "profile" | "analyze" | "create-template" | "process-export-files";

/** Returns the last occurrence of a flag by its first name; undefined if it is not given. */
export type LastFlag = (
  name: string,
) => { readonly value: string | number | undefined; readonly from: ValueSource } | undefined;

/** The values that an option allows. */
export interface ValueLimits {
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly (string | number)[];
  /** Choices that Rampart adds. */
  readonly ownChoices?: readonly string[];
}

/** Collects values of options from flags and a file, and all problems with them. */
export class ValuesBuilder {
  /** Values by the names of their options. */
  readonly values: Map<string, unknown>;
  readonly given = new Map<string, ValueSource>();
  readonly problems: Problem[] = [];
  subcommand: Subcommand = "profile";
  passed: PassedFlags = { given: [], positional: [], problems: [] };

  /** @param defaults defaults of all options */
  constructor(defaults: ReadonlyMap<string, unknown>) {
    this.values = new Map(defaults);
  }

  /** Stores a value of the right type if the option's range and choices allow it. */
  set(name: string, value: unknown, from: ValueSource, limits: ValueLimits): void {
    const problem = checkValue(limits, value, from.place);
    if (problem === undefined) this.store(name, value, from);
    else this.problems.push(problem);
  }

  /** Stores a value without checks. */
  store(name: string, value: unknown, from: ValueSource): void {
    if (!this.values.has(name)) throw new Error(`no option has the name ${name}`);
    this.values.set(name, value);
    this.given.set(name, from);
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
    const message = `User Config: ${item} not in list of choices: [${listChoices(all)}]`;
    const hint = nameHint(String(item), all.map(String), `Give one of ${all.join(", ")}.`);
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
