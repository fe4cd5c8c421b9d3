import type { LevelsPlan } from "../plan/load-plan.ts";
import { LEVEL_UNITS } from "./level-units.ts";
import type { LevelSearch } from "./load-mode.ts";

/** Which loads a search for the highest load tries. */

/** The loads that can be tried. */
export interface Ladder {
  readonly first: number;
  /** Next load after one that meets the limits, when no load above is known to break them; undefined at the top. */
  above(kept: number): number | undefined;
  /** Load between the two; undefined when they are close enough. */
  between(kept: number, broken: number): number | undefined;
}

/** The levels of a load to climb: rungs are levels, or their indices where the search takes them in the order of the plan. */
export interface LevelLadder extends Ladder {
  levelAt(rung: number): number;
}

/** Bisection ends at this ratio of the range's lower end, for concurrencies at 1. Measurements vary by more than that. */
export const CLOSE_ENOUGH_RATIO = 0.02;

/** Source of the loads to try. */
export type SearchedLoads =
  | { readonly kind: "range"; readonly min: number; readonly max: number }
  | { readonly kind: "list"; readonly values: readonly number[] };

/**
 * Creates the ladder for a range of loads or a list of values.
 * @param isWhole whether loads of a range are integers; otherwise they have three significant digits
 * @param closeEnoughRatio where the bisection of a range ends; default: 2 %
 */
export function createLadder(
  loads: SearchedLoads,
  isWhole: boolean,
  closeEnoughRatio: number = CLOSE_ENOUGH_RATIO,
): Ladder {
  return loads.kind === "list" ? climbList(loads.values) : climbRange(loads.min, loads.max, isWhole, closeEnoughRatio);
}

/** Returns the ladder of a load's levels. @param within where the bisection of a range ends if that is below 2 %, as a ratio above 0 */
export function ladderOf({ levels, search, unit }: LevelSearch, within: number = CLOSE_ENOUGH_RATIO): LevelLadder {
  if (search === "linear" || search === "knee") return climbInOrder(levels);
  if (search === "highest" && levels.kind === "list") return { ...climbList(levels.values), levelAt: (level) => level };
  if (levels.kind !== "range" || levels.end === null) throw new Error(`a ${search} search needs a range with an end`);
  const { start, end, step } = levels;
  const { isWhole } = LEVEL_UNITS[unit];
  // Like in perf_analyzer, both are measured even if they are equal.
  if (search === "binary" && end <= start) return climbInOrder({ kind: "list", values: [start, end] });
  const ladder =
    search === "binary"
      ? bisectRange(start, end, step, isWhole)
      : climbRange(start, end, isWhole, Math.min(CLOSE_ENOUGH_RATIO, within));
  return { ...ladder, levelAt: (level) => level };
}

/** Returns a level by its index in a linear search; undefined after the last one. A range whose end is below its start has one level. */
export function levelAt(levels: LevelsPlan, index: number): number | undefined {
  if (levels.kind === "list") return levels.values[index];
  const level = levels.start + index * levels.step;
  return index === 0 || levels.end === null || level <= levels.end ? level : undefined;
}

function climbInOrder(levels: LevelsPlan): LevelLadder {
  return {
    first: 0,
    above: (index) => (levelAt(levels, index + 1) === undefined ? undefined : index + 1),
    between: () => undefined,
    levelAt: (index) => levelAt(levels, index) as number,
  };
}

/** The start, the end, then midpoints until the distance is as small as the step. */
function bisectRange(start: number, end: number, step: number, isWhole: boolean): Ladder {
  return {
    first: start,
    above: (kept) => (kept < end ? end : undefined),
    between: (kept, broken) => {
      if (broken - kept <= step) return undefined;
      const middle = (kept + broken) / 2;
      return isWhole ? Math.floor(middle) : middle;
    },
  };
}

function climbRange(min: number, max: number, isWhole: boolean, closeEnoughRatio: number): Ladder {
  return {
    first: min,
    above: (kept) => (kept >= max ? undefined : Math.min(2 * kept, max)),
    between: (kept, broken) => {
      if (broken - kept <= Math.max(isWhole ? 1 : 0, closeEnoughRatio * kept)) return undefined;
      const middle = (kept + broken) / 2;
      const value = isWhole ? Math.floor(middle) : Number(middle.toPrecision(3));
      return value > kept && value < broken ? value : undefined;
    },
  };
}

function climbList(values: readonly number[]): Ladder {
  const sorted = [...new Set(values)].toSorted((a, b) => a - b);
  return {
    first: sorted[0] as number,
    // Tries the 1st, 2nd, 4th, 8th … of n values.
    above: (kept) => {
      const index = sorted.indexOf(kept);
      return index === sorted.length - 1 ? undefined : sorted[Math.min(2 * index + 1, sorted.length - 1)];
    },
    between: (kept, broken) => {
      const [low, high] = [sorted.indexOf(kept), sorted.indexOf(broken)];
      return high - low <= 1 ? undefined : sorted[Math.floor((low + high) / 2)];
    },
  };
}
