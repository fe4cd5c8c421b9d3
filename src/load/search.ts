import type { LevelsPlan } from "../plan/load-plan.ts";
import { LEVEL_UNITS } from "./level-units.ts";
import type { LevelSearch } from "./load-mode.ts";

/**
 * The search for the highest load that keeps the limits: the possible loads, and the order in which they are tried. It decides by the
 * verdicts so far, and measures nothing itself.
 */

/** The possible loads of a search. */
export interface Ladder {
  readonly first: number;
  /** Next load to try after one that keeps the limits, when no load above is known to break them; undefined at the top. */
  above(kept: number): number | undefined;
  /** Next load to try between the two; undefined when they are close enough. */
  between(kept: number, broken: number): number | undefined;
}

/** The levels of a load as a ladder. Rungs are levels, or their indices when the search takes them in the order of the plan. */
export interface LevelLadder extends Ladder {
  levelAt(rung: number): number;
}

/** Bisection ends at this ratio of the range's lower end, for concurrencies at 1. Measurements vary by more than that. */
const CLOSE_ENOUGH_RATIO = 0.02;

/** Source of the loads to try. */
export type SearchedLoads =
  | { readonly kind: "range"; readonly min: number; readonly max: number }
  | { readonly kind: "list"; readonly values: readonly number[] };

/**
 * Creates the ladder for a range of loads or a list of values.
 * @param isWhole whether loads of a range are integers; otherwise they have three significant digits
 * @param closeEnoughRatio ratio at which the bisection of a range ends; default: 2 %
 */
export function createLadder(
  loads: SearchedLoads,
  isWhole: boolean,
  closeEnoughRatio: number = CLOSE_ENOUGH_RATIO,
): Ladder {
  return loads.kind === "list" ? climbList(loads.values) : climbRange(loads.min, loads.max, isWhole, closeEnoughRatio);
}

/** Returns the ladder of a load's levels. @param within ratio at which the bisection of a range ends, above 0, if that is below 2 % */
export function ladderOf({ levels, search, unit }: LevelSearch, within: number = CLOSE_ENOUGH_RATIO): LevelLadder {
  if (search === "linear" || search === "knee") return climbInOrder(levels);
  if (search === "highest" && levels.kind === "list") return { ...climbList(levels.values), levelAt: (level) => level };
  if (levels.kind !== "range" || levels.end === null) throw new Error(`a ${search} search needs a range with an end`);
  const { start, end, step } = levels;
  const { isWhole } = LEVEL_UNITS[unit];
  // Like in perf_analyzer, both ends are measured even if they are equal.
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

/** Bisects a range: the start, the end, then midpoints until the distance is at most the step. */
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

/** Loads that are measured again until two measurements agree, so that a single noisy one does not decide. */
export type Confirmation =
  | "none"
  /** Both ends of the answer, when they are close enough. If that reverses an earlier result, the search continues from there. */
  | "ends"
  /**
   * A load that breaks the limits, before another is tried, and then the load below it. That load counts as kept once, however many
   * measurements it needed. Without a load that breaks the limits, nothing is measured again.
   */
  | "steps";

/** Whether a load keeps the limits. `unresolved`: the measurement cannot decide. */
export type LoadState = "kept" | "broken" | "unresolved";

export interface TriedLoad {
  readonly load: number;
  readonly state: LoadState;
}

/** Result of a search. */
export interface SearchEnds {
  /** Highest load that keeps the limits and is below all loads that break them. */
  readonly highest: number | undefined;
  /** Lowest load that breaks the limits; undefined if none does. */
  readonly broken: number | undefined;
  /** The lowest and the highest unresolved load between these two; undefined if there is none. */
  readonly unresolved: readonly [lowest: number, highest: number] | undefined;
}

/** Number of measurements in which a load kept the limits, and in which it broke them. */
export interface Votes {
  readonly kept: number;
  readonly broken: number;
}

/** Number of measurements that must agree on a confirmed load. */
const MAJORITY = 2;

export function endsOf(tried: readonly TriedLoad[]): SearchEnds {
  const loads = (state: LoadState): number[] => tried.flatMap((one) => (one.state === state ? [one.load] : []));
  const broken = least(loads("broken"));
  const isBelow = (load: number): boolean => broken === undefined || load < broken;
  const highest = most(loads("kept").filter(isBelow));
  const open = loads("unresolved").filter((load) => isBelow(load) && (highest === undefined || load > highest));
  const [lowest, top] = [least(open), most(open)];
  return { highest, broken, unresolved: lowest === undefined || top === undefined ? undefined : [lowest, top] };
}

function least(loads: readonly number[]): number | undefined {
  return loads.length === 0 ? undefined : Math.min(...loads);
}

function most(loads: readonly number[]): number | undefined {
  return loads.length === 0 ? undefined : Math.max(...loads);
}

/**
 * Reports whether the ends answer the search: nothing between them is unresolved, or they are close enough.
 * @param within largest accepted difference, as a ratio of the lower end
 */
export function isAnswered({ highest, broken, unresolved }: SearchEnds, within: number): boolean {
  if (unresolved === undefined) return true;
  return highest !== undefined && (broken ?? unresolved[1]) <= highest * (1 + within);
}

/**
 * A search on a ladder. Take `next`, measure it, and `add` the verdict, until there is no next load. The search continues above an
 * unresolved load: a higher load often decides, because it gives more requests and is further away from the limit.
 */
export class LoadSearch {
  private readonly ladder: Ladder;
  private readonly confirmation: Confirmation;
  private readonly within: number;
  private readonly tried: number[] = [];
  private readonly votes = new Map<number, Votes>();
  private readonly unresolved = new Set<number>();

  /** @param within largest accepted difference of the ends when loads between them are unresolved, as a ratio. Default: 0 */
  constructor(ladder: Ladder, confirmation: Confirmation = "none", within = 0) {
    this.ladder = ladder;
    this.confirmation = confirmation;
    this.within = within;
  }

  /** Returns the load to try next; undefined when the search is over. */
  next(): number | undefined {
    const { ladder, confirmation, tried, votes } = this;
    if (tried.length === 0) return ladder.first;
    const undecided = [...votes].find(([, { kept, broken }]) => kept === broken);
    if (undecided !== undefined) return undecided[0];
    const { ends } = this;
    const { highest, broken } = ends;
    if (ends.unresolved !== undefined) return this.aroundUnresolved(ends, ends.unresolved);
    if (confirmation === "steps" && this.isUnsure(broken)) return broken;
    if (highest !== undefined) {
      const next = broken === undefined ? ladder.above(highest) : ladder.between(highest, broken);
      if (next !== undefined) return next;
    }
    if (confirmation === "none" || (confirmation === "steps" && broken === undefined)) return undefined;
    return [highest, broken].find((load) => this.isUnsure(load));
  }

  add(load: number, state: LoadState): void {
    this.tried.push(load);
    if (state === "unresolved") {
      this.unresolved.add(load);
      return;
    }
    const { kept, broken } = this.votesOf(load);
    this.votes.set(load, state === "kept" ? { kept: kept + 1, broken } : { kept, broken: broken + 1 });
    const isPassed = this.confirmation === "steps" && this.ends.broken === undefined;
    if (isPassed) this.votes.set(load, { kept: 1, broken: 0 });
  }

  /** Returns a copy of the search with one more verdict. */
  with(load: number, state: LoadState): LoadSearch {
    const search = new LoadSearch(this.ladder, this.confirmation, this.within);
    search.tried.push(...this.tried);
    for (const [tried, votes] of this.votes) search.votes.set(tried, votes);
    for (const open of this.unresolved) search.unresolved.add(open);
    search.add(load, state);
    return search;
  }

  get ends(): SearchEnds {
    const decided = [...this.votes].map(([load, { kept, broken }]) => {
      return { load, state: kept > broken ? "kept" : "broken" } as const;
    });
    return endsOf([...decided, ...[...this.unresolved].map((load) => ({ load, state: "unresolved" }) as const)]);
  }

  votesOf(load: number): Votes {
    return this.votes.get(load) ?? { kept: 0, broken: 0 };
  }

  /** Number of measurements so far. */
  get count(): number {
    return this.tried.length;
  }

  timesTried(load: number): number {
    return this.tried.filter((one) => one === load).length;
  }

  /** Returns a load that moves an end closer to the unresolved loads, from the larger gap; undefined when the ends are close enough. */
  private aroundUnresolved(ends: SearchEnds, [lowest, top]: readonly [number, number]): number | undefined {
    const { ladder, within } = this;
    const { highest, broken } = ends;
    const above = broken === undefined ? ladder.above(top) : undefined;
    if (above !== undefined) return above;
    if (isAnswered(ends, within)) return undefined;
    // When the unresolved loads alone are too far apart, no measurement makes the ends close enough. Then each end is moved
    // only as close as is accepted.
    const least = top > lowest * (1 + within) ? within : 0;
    const between = (low: number | undefined, high: number | undefined): number | undefined =>
      low === undefined || high === undefined || high <= low * (1 + least) ? undefined : ladder.between(low, high);
    const below = between(highest, lowest);
    const beyond = between(top, broken);
    if (below === undefined || beyond === undefined) return below ?? beyond;
    return lowest / (highest ?? lowest) > (broken ?? top) / top ? below : beyond;
  }

  private isUnsure(load: number | undefined): boolean {
    if (load === undefined) return false;
    const { kept, broken } = this.votesOf(load);
    return Math.max(kept, broken) < MAJORITY;
  }
}
