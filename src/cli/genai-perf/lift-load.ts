import { type ParsedLine, parseOptions } from "../perf-analyzer/read-settings.ts";
import { findLoadSweep } from "./analyze/points.ts";
import { isDefault } from "./options/defaults.ts";
import type { GenaiSettings, Stimulus } from "./options/settings.ts";
import type { GivenSettings, SettingsBuilder } from "./options/settings-builder.ts";

/** The load that flags of perf_analyzer after `--` ask for: it becomes genai-perf's own, so that folder, files and rules follow it. */

const WHOLE = /^\d+$/;
const DECIMAL = /^\d+(?:\.\d+)?$/;

/** What each flag of a load makes of its value; undefined where genai-perf has no such load. */
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
 * Takes the load out of the flags after `--` into the settings, where it is the only one or of the kind that was given before. All other
 * flags are left in `settings.passThrough`, also loads that contradict each other: perf_analyzer's parser says so.
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
  // 0 is perf_analyzer's to refuse.
  if (stimulus === undefined || !isOfOneKind || !isFree || Number(last.value ?? 1) <= 0) return;
  builder.store("perfAnalyzer.stimulus", stimulus, {
    place: last.typed,
    source: "flag",
    isFloat: name.includes("rate"),
  });
  const { positional } = parsed;
  settings.passThrough = [...writeFlags(rest), ...(positional.length === 0 ? [] : ["--", ...positional])];
}

/** Whether somebody asked for the load: a file may repeat the default, as templates do. */
export function isLoadGiven(settings: GenaiSettings, given: GivenSettings): boolean {
  const at = "perfAnalyzer.stimulus";
  return given.get(at)?.source === "flag" || !isDefault(settings, at);
}

/** Flags as a command line. */
export function writeFlags(flags: ParsedLine["given"]): string[] {
  return flags.flatMap(({ typed, value }) => (value === undefined ? [typed] : [typed, value]));
}

/** The file of gaps that the flags after `--` name, a load that genai-perf has no name for; undefined where they name none. */
export function intervalsFileOf(args: readonly string[]): string | undefined {
  if (args.length === 0) return undefined;
  return parseOptions(args).given.findLast(({ option }) => option.names[0] === "--request-intervals")?.value;
}
