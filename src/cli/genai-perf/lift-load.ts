import { type ParsedLine, parseOptions } from "../perf-analyzer/read-settings.ts";
import { findLoadSweep } from "./analyze/points.ts";
import { LOAD_NAMES, loadOf, type Stimulus } from "./loads.ts";
import { isDefault } from "./options/defaults.ts";
import type { GenaiSettings } from "./options/settings.ts";
import type { GivenSettings, SettingsBuilder } from "./options/settings-builder.ts";

/** Converts a load in perf_analyzer's flags after `--` to genai-perf's own load, so that folder, files and rules follow it. */

const NUMBERS = { whole: /^\d+$/, decimal: /^\d+(?:\.\d+)?$/ };
/** A load for which genai-perf has no name. */
const INTERVALS_FLAG = "--request-intervals";
/** The loads by perf_analyzer's flag. */
const LOADS = new Map<string, Stimulus["kind"] | undefined>([
  ...LOAD_NAMES.map((kind) => [loadOf(kind).passedFlag, kind] as const),
  [INTERVALS_FLAG, undefined],
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

/** Returns the intervals file in the flags after `--`; undefined without one. */
export function intervalsFileOf(args: readonly string[]): string | undefined {
  return passedValueOf(args, INTERVALS_FLAG);
}

/** Returns the value of a flag after `--`; undefined without the flag. @param name the first name of the option */
export function passedValueOf(args: readonly string[], name: string): string | undefined {
  if (args.length === 0) return undefined;
  return parseOptions(args).given.findLast(({ option }) => option.names[0] === name)?.value;
}
