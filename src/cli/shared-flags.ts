import type { OutputFilesPlan } from "../plan/plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import { readDurationMs, readNumber } from "./flag-values.ts";
import type { Flag, FlagValues } from "./flags.ts";
import {
  type Door,
  defaultTextOf,
  fileKeyOf,
  type PlanValues,
  type SharedOption,
  sharedOptions,
  toOutputPath,
  toPlanValue,
} from "./options/shared-options.ts";
import { checkOutputFiles, findReadOutputs } from "./output-files.ts";

/** The options of `options/shared-options.ts` as flags of Rampart's own commands. */

/** Returns the flags of a command. */
export function sharedFlags(door: Door): Flag[] {
  return sharedOptions(door).map((option) => toFlag(option, door === "run"));
}

/** Returns one option as a flag. @param hasScenario whether the flag replaces what a scenario says; outputs belong to no scenario */
export function toFlag(option: SharedOption, hasScenario = false): Flag {
  const { name, short, value, choices, help, setting = "outputs" } = option;
  const text = defaultTextOf(option, true);
  const defaultText = hasScenario && !setting.startsWith("outputs") ? `the scenario's, or ${text}` : text;
  return {
    name,
    help,
    ...(short === undefined ? {} : { short }),
    ...(value === undefined ? {} : { value }),
    ...(choices === undefined ? {} : { choices }),
    ...(text === undefined || defaultText === undefined ? {} : { defaultText }),
  };
}

/** Reads what the flags put into a plan. @param problems gets all problems */
export function readShared(flags: FlagValues, door: Door, problems: Problem[]): PlanValues {
  const values = new Map<string, unknown>();
  const givers = new Map<string, string>();
  const options = sharedOptions(door);
  for (const option of options) {
    const { name, setting } = option;
    const given = setting === undefined ? undefined : readGiven(flags, option, problems);
    if (given === undefined || setting === undefined) continue;
    const put = toPlanValue(option, given);
    if ("message" in put) {
      problems.push(problem("invalid-value", `--${name}`, put.message, put.hint, flags.text(name)));
      continue;
    }
    const earlier = givers.get(setting);
    if (earlier !== undefined && values.get(setting) !== put.value)
      problems.push(problem("conflict", `--${earlier}`, `--${name} says the opposite`, "Give only one of them."));
    givers.set(setting, name);
    values.set(setting, put.value);
  }
  readFiles(flags, options, [], problems);
  return values;
}

/**
 * Reads the files of reports, by their key in a plan.
 * @param read the files that the command reads
 * @param problems gets files that cannot be written
 */
export function readFiles(
  flags: FlagValues,
  options: readonly SharedOption[],
  read: readonly string[],
  problems: Problem[],
): OutputFilesPlan {
  const given = options.flatMap((option) => {
    const [key, path] = [fileKeyOf(option), toOutputPath(flags.text(option.name))];
    return key === undefined || path === undefined ? [] : [{ key, path, flag: `--${option.name}` }];
  });
  const named = given.map(({ flag, path }) => [flag, path] as const);
  problems.push(...checkOutputFiles(named), ...findReadOutputs(named, read));
  return Object.fromEntries(given.map(({ key, path }) => [key, path]));
}

/** Returns what was given; undefined for nothing, or a problem. */
function readGiven(flags: FlagValues, option: SharedOption, problems: Problem[]): string | number | true | undefined {
  const { name, kind } = option;
  if (kind === "switch") return flags.has(name) || undefined;
  if (kind === "duration") return readDurationMs(flags, name, problems);
  if (kind !== "whole" && kind !== "decimal") return flags.text(name);
  const { min = 0, max, example } = option;
  return readNumber(flags, name, { isWhole: kind === "whole", min, max, example }, problems);
}
