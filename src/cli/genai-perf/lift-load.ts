import { type ParsedLine, parseOptions } from "../perf-analyzer/read-settings.ts";
import { LOAD_NAMES, loadOf, type Stimulus } from "./loads.ts";
import { isDefault } from "./options/defaults.ts";
import type { GenaiSettings } from "./options/settings.ts";
import type { GivenSettings, SettingsBuilder } from "./options/settings-builder.ts";
import { findLoadSweep } from "./points.ts";

/** Converts a load in perf_analyzer's flags after `--` to genai-perf's own load, so that folder, files and rules follow it. */

const NUMBERS = { whole: /^\d+$/, decimal: /^\d+(?:\.\d+)?$/ };
const INTERVALS_FLAG = "--request-intervals";
/** The flags of loads that genai-perf does not have, and the names of their folders. */
const PASSED_ONLY: Readonly<Record<string, string>> = {
  [INTERVALS_FLAG]: "request_intervals",
  "--periodic-concurrency-range": "periodic_concurrency",
};
/** The loads by perf_analyzer's flag. */
const LOADS = new Map<string, Stimulus["kind"] | undefined>([
  ...LOAD_NAMES.map((kind) => [loadOf(kind).passedFlag, kind] as const),
  ...Object.keys(PASSED_ONLY).map((flag) => [flag, undefined] as const),
]);

/** Returns the load of a flag with its value; undefined if genai-perf has no such load. */
function readPassed(flag: string, text: string): Stimulus | undefined {
  const kind = LOADS.get(flag);
  if (kind === undefined) return undefined;
  const { number } = loadOf(kind);
  if (number === undefined) return { kind };
  return NUMBERS[number].test(text) ? { kind, value: Number(text) } : undefined;
}

/**
 * Moves the load from the flags after `--` to the settings, if it is the only one or of the same kind as one given before. Leaves all other
 * flags in `settings.passThrough`, including conflicting loads, which perf_analyzer's parser reports.
 */
export function liftLoad(builder: SettingsBuilder, args: readonly string[]): void {
  if (args.length === 0) return;
  const { settings, given } = builder;
  const parsed = parseOptions(args);
  const rest = parsed.given.filter(({ option }) => !LOADS.has(option.names[0]));
  const loads = parsed.given.filter((one) => !rest.includes(one));
  settings.passThrough = [...args];
  const last = loads.at(-1);
  if (last === undefined || parsed.problems.length > 0) return;
  const [name] = last.option.names;
  const isSwept = settings.subcommand === "analyze" || given.has("analyze.sweeps");
  const swept = isSwept ? findLoadSweep(settings.analyze.sweeps)?.type : undefined;
  if (swept !== undefined) {
    builder.fail(
      name,
      `${name} after -- and a sweep of ${swept} are both a load`,
      last.value,
      "Leave out one of them.",
    );
    return;
  }
  const stimulus = readPassed(name, last.value ?? "");
  const isOfOneKind = loads.every(({ option }) => option === last.option);
  const isFree = !isLoadGiven(settings, given) || settings.perfAnalyzer.stimulus.kind === stimulus?.kind;
  // perf_analyzer's parser refuses 0.
  if (stimulus === undefined || !isOfOneKind || !isFree || Number(last.value ?? 1) <= 0) return;
  builder.store("perfAnalyzer.stimulus", stimulus, {
    place: last.typed,
    source: "flag",
    isFloat: loadOf(stimulus.kind).number === "decimal",
  });
  const { positional } = parsed;
  settings.passThrough = [...writeFlags(rest), ...(positional.length === 0 ? [] : ["--", ...positional])];
}

/** Reports whether the user chose the load. A file can repeat the default, like templates do. */
export function isLoadGiven(settings: GenaiSettings, given: GivenSettings): boolean {
  const at = "perfAnalyzer.stimulus";
  return given.get(at)?.source === "flag" || !isDefault(settings, at);
}

/** Converts flags to command-line arguments. */
export function writeFlags(flags: ParsedLine["given"]): string[] {
  return flags.flatMap(({ typed, value }) => (value === undefined ? [typed] : [typed, value]));
}

/** Returns the word for names of folders of a load that only flags after `--` can give; undefined without one. */
export function passedLoadName(args: readonly string[]): string | undefined {
  if (args.length === 0) return undefined;
  const last = parseOptions(args).given.findLast(({ option }) => isPassedOnlyLoad(option.names[0]));
  return last && PASSED_ONLY[last.option.names[0]];
}

/** Reports whether a flag of perf_analyzer gives a load that genai-perf does not have. @param name the first name of the option */
export function isPassedOnlyLoad(name: string): boolean {
  return Object.hasOwn(PASSED_ONLY, name);
}

/** Returns the intervals file in the flags after `--`; undefined without one. */
export function intervalsFileOf(args: readonly string[]): string | undefined {
  return passedValueOf(args, INTERVALS_FLAG);
}

/** Reports whether a flag is given after `--`. @param name the first name of the option */
export function isPassed(args: readonly string[], name: string): boolean {
  return args.length > 0 && parseOptions(args).given.some(({ option }) => option.names[0] === name);
}

/** Returns the value of a flag after `--`; undefined without the flag. @param name the first name of the option */
export function passedValueOf(args: readonly string[], name: string): string | undefined {
  if (args.length === 0) return undefined;
  return parseOptions(args).given.findLast(({ option }) => option.names[0] === name)?.value;
}
