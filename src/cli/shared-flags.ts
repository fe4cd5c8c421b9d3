import { defined } from "../plan/objects.ts";
import type { OutputFilesPlan } from "../plan/output-files-plan.ts";
import { ONLY_ONE, type Problem, problem } from "../plan/problem.ts";
import { readAs, readNumber } from "./flag-values.ts";
import { type Flag, type FlagValues, HELP_FLAGS } from "./flags.ts";
import type { PlanValues } from "./options/place.ts";
import {
  type Door,
  defaultTextOf,
  fileKeyOf,
  type GivenValue,
  type SharedOption,
  STDOUT_FILE,
  toOutputPath,
  toPlanValue,
} from "./options/shared-option.ts";
import { sharedOptions } from "./options/shared-options.ts";
import { checkOutputFiles, findReadOutputs } from "./output-files.ts";

/** The options of `options/shared-options.ts`, as flags of Rampart's own commands. */

/** Returns all flags of a command: first those that determine what it measures, then those that only it has, then the rest. */
export function commandFlags(door: Door, others: readonly Flag[]): readonly Flag[] {
  return [
    ...sharedFlags(door, ({ isFirst = false }) => isFirst),
    ...others,
    ...sharedFlags(door, ({ isFirst = false }) => !isFirst),
    ...HELP_FLAGS,
  ];
}

/** Returns the flags of a command that are shared with others. @param isWanted Default: all */
export function sharedFlags(door: Door, isWanted: (option: SharedOption) => boolean = () => true): Flag[] {
  return sharedOptions(door)
    .filter(isWanted)
    .map((option) => toFlag(option, door === "run"));
}

/** Returns one option as a flag. @param hasScenario whether the flag replaces a setting of a scenario; outputs are not part of scenarios */
function toFlag(option: SharedOption, hasScenario: boolean): Flag {
  const { name, short, value, choices, meant, meantAs, isCommon, help, isRepeatable, setting = "outputs" } = option;
  const text = defaultTextOf(option, true);
  const defaultText = hasScenario && !setting.startsWith("outputs") ? `the scenario's, or ${text}` : text;
  return {
    name,
    help,
    ...defined({ short, value, choices, meant, meantAs, isCommon, isRepeatable }),
    ...(option.default === undefined || option.setting !== undefined ? {} : { default: String(option.default) }),
    ...(text === undefined || defaultText === undefined ? {} : { defaultText }),
  };
}

/** Reads the values of the flags for a plan. @param problems receives all problems */
export function readShared(flags: FlagValues, door: Door, problems: Problem[]): PlanValues {
  const values = new Map<string, unknown>();
  const givers = new Map<string, string>();
  const options = sharedOptions(door);
  for (const option of options) {
    const { name, setting } = option;
    const given = setting === undefined ? undefined : readOption(flags, option, problems);
    if (given === undefined || setting === undefined) continue;
    const put = toPlanValue(option, given);
    if ("message" in put) {
      problems.push(problem("invalid-value", `--${name}`, put.message, put.hint, put.given ?? flags.text(name)));
      continue;
    }
    const earlier = givers.get(setting);
    if (earlier !== undefined && values.get(setting) !== put.value)
      problems.push(problem("conflict", `--${earlier}`, `--${name} says the opposite`, ONLY_ONE));
    givers.set(setting, name);
    values.set(setting, put.value);
  }
  readFiles(flags, options, [], problems);
  return values;
}

/** Reads the files of reports, by their key in a plan. @param read the command's inputs @param problems receives unwritable files */
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
  const found = [...checkOutputFiles(named), ...findReadOutputs(named, read)];
  const [first, second] = given.filter(({ path }) => path === STDOUT_FILE);
  // Other checks find duplicate regular files.
  if (first !== undefined && second !== undefined && found.every(({ path }) => path !== second.flag))
    found.push(problem("conflict", second.flag, `is standard output like ${first.flag}`, "Give one of them a file."));
  problems.push(...found);
  return Object.fromEntries(given.map(({ key, path }) => [key, path]));
}

/** Reads a number, a time in ms or a percentage that the command handles itself. @param problems receives an invalid value */
export function readAmount(flags: FlagValues, door: Door, name: string, problems: Problem[]): number | undefined {
  const option = sharedOptions(door).find((one) => one.name === name);
  const read = option && readOption(flags, option, problems);
  return read === undefined ? undefined : Number(read);
}

/** Returns the given value; undefined if there is none, or after a problem. */
function readOption(flags: FlagValues, option: SharedOption, problems: Problem[]): GivenValue | undefined {
  const { name, kind } = option;
  if (option.isRepeatable === true) return flags.has(name) ? flags.texts(name) : undefined;
  if (kind === "switch") return flags.has(name) || undefined;
  const text = flags.text(name);
  if (text === undefined) return undefined;
  if (kind === "duration" || kind === "percent") return readAs(kind, name, text, problems);
  if (kind !== "whole" && kind !== "decimal") return text;
  const { min = 0, max, example } = option;
  return readNumber(flags, name, { isWhole: kind === "whole", min, max, example }, problems);
}
