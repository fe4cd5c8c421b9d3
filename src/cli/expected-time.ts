import { LEVEL_UNITS } from "../load/level-units.ts";
import { countLevels, type LevelRange } from "../load/levels.ts";
import type { LoadPlan } from "../plan/load-plan.ts";
import { defined } from "../plan/objects.ts";
import type { Plan } from "../plan/plan.ts";
import { withoutSecrets } from "../plan/secrets.ts";
import {
  describeMs,
  describeSpan,
  estimateAllRuns,
  joinTimes,
  type RunTime,
  stairsOf,
  type TimeSpan,
} from "../registry/estimate-time.ts";
import { levelUnitOf } from "../registry/load-modes.ts";
import type { CommandIo } from "./execute.ts";

/** Expected time of a run, which is printed before it starts. */

/** Longer runs are announced, for any load. */
const LONG_MS = 300_000;

/** Number of levels of a staircase that are enough for a curve. */
const FEW_LEVELS = 8;

/** Notation of a load: TypeScript or YAML. */
export type LoadNotation = "code" | "data";

/** Expected time that `--dry-run` adds to a plan. */
export interface ExpectedTime extends RunTime {
  /** Shorter forms of a staircase whose levels are measured until they are stable. Absent: the load is not a staircase. */
  readonly shorter?: readonly string[];
}

/** Returns the expected time of a plan; undefined if it depends on the data or the server. */
export function expectedTimeOf(plan: Plan, notation: LoadNotation): ExpectedTime | undefined {
  const time = estimateAllRuns(plan);
  if (time === undefined) return undefined;
  const shorter = stairsOf(plan).flatMap(({ load, range }) =>
    listShorter(load, range, countLevels(range) ?? 1, notation),
  );
  return { ...time, ...(shorter.length === 0 ? {} : { shorter }) };
}

/** Prints the expected time of a run before it starts, if the time is long or the load is a staircase. */
export function announceTime(plan: Plan, notation: LoadNotation, io: Pick<CommandIo, "err">): void {
  const time = expectedTimeOf(plan, notation);
  if (time === undefined || (time.shorter === undefined && time.mostMs <= LONG_MS)) return;
  const { parts, shorter = [] } = time;
  const forms = shorter.map((form) => `    ${form}\n`).join("");
  io.err(`  expected to take ${describeSpan(time)} (${parts})${forms === "" ? "" : "; shorter:"}\n${forms}`);
}

/** Returns the time that several plans take; undefined if one is not known. @param areAtOnce as in {@link joinTimes} */
export function timeOfPlans(plans: readonly (Plan | undefined)[], areAtOnce = false): TimeSpan | undefined {
  const times = plans.map((plan) => plan && estimateAllRuns(plan));
  return joinTimes(times, areAtOnce);
}

/** Returns the end of a line that announces several runs: their maximum time; empty if it is not known. */
export function expectedAtMost(time: TimeSpan | undefined): string {
  return time === undefined ? "" : `, expected to take ${describeMs(time.mostMs)} at most`;
}

/** Returns a plan as `--dry-run` prints it, with the expected time. */
export function formatDryRun(plan: Plan, notation: LoadNotation): string {
  const expectedTime = expectedTimeOf(plan, notation);
  const shown = { ...withoutSecrets(plan), ...defined({ expectedTime }) };
  return `${JSON.stringify(shown, null, 2)}\n`;
}

/** Returns several plans as `--dry-run` prints them, after their total time. */
export function formatDryRuns(time: TimeSpan | undefined, plans: object): string {
  return `${JSON.stringify({ ...defined({ expectedTime: time }), ...plans }, null, 2)}\n`;
}

/** Returns one of several plans as `--dry-run` prints it; null if it is not known before a server has started. */
export function showPlan(plan: Plan | undefined): unknown {
  return plan === undefined ? null : JSON.parse(formatDryRun(plan, "code"));
}

/** Returns three forms that take less time: fewer levels, a time or a number of requests for each level, and a ramp over time. */
function listShorter(load: LoadPlan, range: LevelRange, count: number, notation: LoadNotation): string[] {
  const start = range.isFromZero === true ? 0 : range.start;
  const last = range.end ?? start;
  const ramp = (option: string, value: string | number): string =>
    writeRamp(LEVEL_UNITS[levelUnitOf(load)].isScheduled ? "rateRamp" : "ramp", [start, last], option, value, notation);
  const step = Math.ceil((last - start) / (FEW_LEVELS - 1));
  const each = ramp("for", "10 s");
  const inTime = ramp("over", "2 min");
  return count > FEW_LEVELS ? [ramp("step", step), each, inTime] : [each, ramp("requests", 1000), inTime];
}

function writeRamp(
  name: string,
  [from, to]: readonly [number, number],
  option: string,
  value: string | number,
  notation: LoadNotation,
): string {
  if (notation === "data") return `${name}: { from: ${from}, to: ${to}, ${option}: ${value} }`;
  return `${name}(${from}, ${to}, { ${option}: ${typeof value === "number" ? value : JSON.stringify(value)} })`;
}
