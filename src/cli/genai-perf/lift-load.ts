import { type ParsedLine, parseOptions } from "../perf-analyzer/read-settings.ts";
import { findLoadSweep } from "./analyze/points.ts";
import { isDefault } from "./options/defaults.ts";
import type { GenaiSettings, Stimulus } from "./options/settings.ts";
import type { GivenSettings, SettingsBuilder } from "./options/settings-builder.ts";

/** Converts a load in perf_analyzer's flags after `--` to genai-perf's own load, so that folder, files and rules follow it. */

const WHOLE = /^\d+$/;
const DECIMAL = /^\d+(?:\.\d+)?$/;

/** Converts the value of each load flag; undefined if genai-perf has no such load. */
const LOADS: Readonly<Record<string, (value: string) => Stimulus | undefined>> = {
  "--concurrency-range": (value) => (WHOLE.test(value) ? { kind: "concurrency", requests: Number(value) } : undefined),
  "--request-rate-range": (value) =>
    DECIMAL.test(value) ? { kind: "request_rate", ratePerSec: Number(value) } : undefined,
  "--session-concurrency": (value) =>
    WHOLE.test(value) ? { kind: "session_concurrency", sessions: Number(value) } : undefined,
  "--fixed-schedule": () => ({ kind: "fixed_schedule" }),
  "--request-intervals": () => undefined,
};

/**
 * Moves the load from the flags after `--` to the settings, if it is the only one or of the same kind as one given before. Leaves all other
 * flags in `settings.passThrough`, including conflicting loads, which perf_analyzer's parser reports.
 */
export function liftLoad(builder: SettingsBuilder, args: readonly string[]): void {
  if (args.length === 0) return;
  const { settings, given } = builder;
  const parsed = parseOptions(args);
  const rest = parsed.given.filter(({ option }) => LOADS[option.names[0]] === undefined);
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
  const stimulus = LOADS[name]?.(last.value ?? "");
  const isOfOneKind = loads.every(({ option }) => option === last.option);
  const isFree = !isLoadGiven(settings, given) || settings.perfAnalyzer.stimulus.kind === stimulus?.kind;
  // perf_analyzer's parser refuses 0.
  if (stimulus === undefined || !isOfOneKind || !isFree || Number(last.value ?? 1) <= 0) return;
  builder.store("perfAnalyzer.stimulus", stimulus, {
    place: last.typed,
    source: "flag",
    isFloat: name.includes("rate"),
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

/** Returns the intervals file in the flags after `--`, a load for which genai-perf has no name; undefined without one. */
export function intervalsFileOf(args: readonly string[]): string | undefined {
  if (args.length === 0) return undefined;
  return parseOptions(args).given.findLast(({ option }) => option.names[0] === "--request-intervals")?.value;
}
