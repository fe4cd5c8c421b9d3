import { LEVEL_UNITS, type LevelUnitName } from "../load/level-units.ts";
import { countLevels, type LevelRange, rangeOf } from "../load/levels.ts";
import { createLadder, LoadSearch, levelAt } from "../load/search.ts";
import { STABILITY_WINDOWS, WINDOW_STRETCH } from "../measure/stability.ts";
import type { LevelsPlan, LoadPlan } from "../plan/load-plan.ts";
import type { MeasurementModePlan, Plan } from "../plan/plan.ts";
import { countOf, msToSec, sum } from "../plan/units.ts";
import { levelUnitOf, loadModeOf } from "./load-modes.ts";

/** Estimates from its plan how long a run takes. */

/** Time of a run with its warm-ups, without the time to connect and without requests that are still in flight at its end. */
export interface RunTime {
  readonly leastMs: number;
  readonly mostMs: number;
  /** Parts of the time, in words: `4 levels of 2 s`. */
  readonly parts: string;
}

/** The knee is at the first level or later, and two more levels show it. */
const LEAST_TO_KNEE = 3;
/** Of a longer list all loads are counted. */
const MOST_LISTED = 50;
/** Loads of a search that are tried as the limit. */
const TRIED_LIMITS = 200;

/** Returns the time that a plan takes; undefined if its data or the server decides. */
export function estimateTime(plan: Plan): RunTime | undefined {
  const mode = loadModeOf(plan.load);
  const phases = mode.phases?.(plan.load);
  if (phases !== undefined) {
    // Only the first phase has to become stable by itself.
    const times = phases.map((phase, index) =>
      timeOfLoad(phase.load, phase.mode ?? plan.measurement.mode, index === 0 ? leadOf(phase.load) : 0),
    );
    if (!times.every((time) => time !== undefined)) return undefined;
    const parts = phases.length === 1 ? "one phase" : `${phases.length} phases`;
    return { leastMs: sum(times.map(({ leastMs }) => leastMs)), mostMs: sum(times.map(({ mostMs }) => mostMs)), parts };
  }
  const { mode: measured, warmupMs = 0 } = plan.measurement;
  const beforeMs = warmupMs + leadOf(plan.load);
  const time = timeOfLoad(plan.load, measured, beforeMs);
  const onceMs = Math.max(0, clientWarmUpMs(plan) - beforeMs);
  if (time === undefined || onceMs <= LEAST_WARM_UP_RATIO * time.mostMs) return time;
  const { leastMs, mostMs, parts } = time;
  return { leastMs: leastMs + onceMs, mostMs: mostMs + onceMs, parts: `${parts} and a warm-up` };
}

/** Below this ratio of the time, the warm-up is not mentioned. */
const LEAST_WARM_UP_RATIO = 0.01;

/** Longest unmeasured part of a run's first level, in which the client's code may still be compiled. */
export const CLIENT_WARM_UP_MS = 1000;

/**
 * Returns the unmeasured time at the start of the first level: at most the length of the level. Loads that rise or follow
 * MLPerf are measured from the start.
 */
function clientWarmUpMs({ load, measurement, behaviour }: Plan): number {
  const { mode } = measurement;
  if (mode.kind !== "duration" || behaviour?.measuresFromNothing === true) return 0;
  return loadModeOf(load).ramp?.(load) === undefined ? Math.min(CLIENT_WARM_UP_MS, mode.durationMs) : 0;
}

function leadOf(load: LoadPlan): number {
  return loadModeOf(load).leadMs?.(load) ?? 0;
}

/** Returns the time of all runs of a plan, if it is repeated; undefined if its data or the server decides. */
export function estimateAllRuns(plan: Plan): RunTime | undefined {
  const time = estimateTime(plan);
  const { repeat } = plan;
  if (time === undefined || repeat === undefined) return time;
  const { atLeast, atMost } = repeat;
  const runs = `${atLeast === atMost ? "" : `${atLeast} to `}${countOf(atMost, "run")}`;
  return { leastMs: atLeast * time.leastMs, mostMs: atMost * time.mostMs, parts: `${runs} of ${time.parts}` };
}

/** A shortest and a longest time. */
export type TimeSpan = Pick<RunTime, "leastMs" | "mostMs">;

/**
 * Returns the time that several runs take together; undefined if it is unknown for one of them. @param areAtOnce whether they
 * run at the same time
 */
export function joinTimes(times: readonly (TimeSpan | undefined)[], areAtOnce = false): TimeSpan | undefined {
  if (!times.every((time) => time !== undefined)) return undefined;
  const join = (all: readonly number[]): number => (areAtOnce ? Math.max(0, ...all) : sum(all));
  return { leastMs: join(times.map(({ leastMs }) => leastMs)), mostMs: join(times.map(({ mostMs }) => mostMs)) };
}

/** Levels that are measured one after another, each until it is stable. */
export interface Stairs {
  readonly load: LoadPlan;
  readonly range: LevelRange;
}

/** Returns the staircases of a load: the load itself, or those of its phases. Empty for other loads. */
export function stairsOf({ load, measurement }: Plan): readonly Stairs[] {
  const phases = loadModeOf(load).phases?.(load) ?? [{ load }];
  return phases.flatMap((phase): readonly Stairs[] => {
    const found = loadModeOf(phase.load).levels?.(phase.load);
    const mode = ("mode" in phase ? phase.mode : undefined) ?? measurement.mode;
    const isStairs = found?.search === "linear" && (countLevels(found.levels) ?? 0) > 1;
    const range = isStairs && mode.kind === "time-windows" ? rangeOf(found.levels) : undefined;
    return range === undefined ? [] : [{ load: phase.load, range }];
  });
}

function timeOfLoad(load: LoadPlan, mode: MeasurementModePlan, warmupMs: number): RunTime | undefined {
  const { levels, search } = loadModeOf(load).levels?.(load) ?? { levels: ONE_LEVEL, search: "linear" as const };
  const level = timeOfLevel(mode);
  if (level === undefined) return undefined;
  const [leastMs, mostMs] = [level.leastMs + warmupMs, level.mostMs + warmupMs];
  if (search === "highest") {
    const within = mode.kind === "until-resolved" ? mode.withinRatio : 0;
    const range = rangeOf(levels);
    const points = range === undefined ? mostOfList(levels, within) : mostPoints(range, levelUnitOf(load), within);
    const parts = `${countOf(points, "load")} of ${describeMs(mostMs)} at most; fewer and shorter where the verdict is clear`;
    return { leastMs, mostMs: points * mostMs, parts };
  }
  const levelCount = countLevels(levels);
  if (levelCount === undefined) return undefined;
  const least = search === "knee" ? Math.min(levelCount, LEAST_TO_KNEE) : levelCount;
  const each = leastMs === mostMs ? describeMs(mostMs) : `${describeMs(leastMs)} to ${describeMs(mostMs)}`;
  return {
    leastMs: least * leastMs,
    mostMs: levelCount * mostMs,
    parts: `${least < levelCount ? "up to " : ""}${countOf(levelCount, "level")} of ${each}`,
  };
}

const ONE_LEVEL: LevelsPlan = { kind: "list", values: [1] };

function timeOfLevel(mode: MeasurementModePlan): { readonly leastMs: number; readonly mostMs: number } | undefined {
  if ("durationMs" in mode) return { leastMs: mode.durationMs, mostMs: mode.durationMs };
  if ("maxMs" in mode) return { leastMs: 2 * mode.windowMs, mostMs: mode.maxMs };
  if ("minDurationMs" in mode && mode.minDurationMs !== undefined)
    return { leastMs: mode.minDurationMs, mostMs: mode.minDurationMs };
  if (!("windowMs" in mode)) return undefined;
  const windowMs = WINDOW_STRETCH * mode.windowMs;
  return { leastMs: STABILITY_WINDOWS * windowMs, mostMs: mode.maxTrials * windowMs };
}

/**
 * Widths of the range of loads that cannot be decided, as ratios of `within`. A search tries the most loads if the range is
 * just too wide to stop.
 */
const OPEN_WIDTHS: readonly number[] = [0, 0.7, 1.05, 1.4];

/** Returns the largest number of loads that a search tries, for any limit and any range of loads near it that cannot be decided. */
function mostPoints(
  { start, end }: LevelsPlan & { readonly kind: "range" },
  unit: LevelUnitName,
  within: number,
): number {
  const max = end ?? start;
  const ladder = createLadder({ kind: "range", min: start, max }, LEVEL_UNITS[unit].isWhole);
  let most = 0;
  for (let index = 0; index <= TRIED_LIMITS; index++) {
    const kept = start * (max / start) ** (index / TRIED_LIMITS);
    for (const width of OPEN_WIDTHS)
      most = Math.max(most, countPoints(new LoadSearch(ladder, "none", within), kept, kept * (1 + width * within)));
  }
  return most;
}

/** Returns the same for a list of loads. */
function mostOfList(levels: LevelsPlan, within: number): number {
  const count = countLevels(levels) ?? 1;
  if (count > MOST_LISTED) return count;
  const values = Array.from({ length: count }, (_, index) => levelAt(levels, index) ?? 0);
  const ladder = createLadder({ kind: "list", values }, false);
  const counts = [0, ...values].flatMap((kept) =>
    values.map((open) => countPoints(new LoadSearch(ladder, "none", within), kept, open)),
  );
  return Math.max(...counts);
}

/** @param kept the highest load that keeps the limits @param open the highest one that cannot be decided */
function countPoints(search: LoadSearch, kept: number, open: number): number {
  let pointCount = 0;
  for (let load = search.next(); load !== undefined; load = search.next()) {
    search.add(load, load <= kept ? "kept" : load <= open ? "unresolved" : "broken");
    pointCount++;
  }
  return pointCount;
}

export function describeTime(time: RunTime | undefined): string {
  if (time === undefined) return "The run takes as long as its data and the server need.";
  return `The run takes ${describeSpan(time)} (${time.parts}).`;
}

/** Formats the time of runs: `about 2 s`, or `2 s to 4 min`. */
export function describeSpan({ leastMs, mostMs }: TimeSpan): string {
  return leastMs === mostMs ? `about ${describeMs(mostMs)}` : `${describeMs(leastMs)} to ${describeMs(mostMs)}`;
}

const SEC_PER_MIN = 60;

/** Formats a time: `250 ms`, `2 s`, `4 min 39 s`, `1 h`. */
export function describeMs(ms: number): string {
  if (msToSec(ms) < 1) return `${Number(ms.toPrecision(3))} ms`;
  const allSec = msToSec(ms);
  if (allSec < SEC_PER_MIN) return `${Number(allSec.toPrecision(3))} s`;
  const [totalMin, sec] = [Math.floor(Math.round(allSec) / SEC_PER_MIN), Math.round(allSec) % SEC_PER_MIN];
  const [hours, min] = [Math.floor(totalMin / SEC_PER_MIN), totalMin % SEC_PER_MIN];
  const words = [hours > 0 && `${hours} h`, min > 0 && `${min} min`, sec > 0 && hours === 0 && `${sec} s`];
  return words.filter((word) => word !== false).join(" ");
}
