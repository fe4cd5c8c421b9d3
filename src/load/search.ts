import type { Ladder } from "./load-ladder.ts";

/** The search for the highest load that keeps the limits. It decides what to try from the verdicts so far, and measures nothing itself. */

/** Which loads are measured again until two measurements agree, so that a single noisy one does not decide. */
export type Confirmation =
  | "none"
  /** Both ends of the answer, when they are close enough. If that reverses an earlier result, the search continues from there. */
  | "ends"
  /**
   * A load that breaks the limits, before another is tried, and then the load below it, which counts as kept once however many measurements
   * it took to pass it. Without a load that breaks the limits, nothing is measured again.
   */
  | "steps";

/** Whether a load keeps the limits. `unresolved`: its measurement does not decide that. */
export type LoadState = "kept" | "broken" | "unresolved";

/** A load that was tried. */
export interface TriedLoad {
  readonly load: number;
  readonly state: LoadState;
}

/** What a search has found. */
export interface SearchEnds {
  /** Highest load that keeps the limits, below all that break them. */
  readonly highest: number | undefined;
  /** Lowest load that breaks the limits; undefined when none does. */
  readonly broken: number | undefined;
  /** The lowest and the highest load between these two that are unresolved; undefined when none is. */
  readonly unresolved: readonly [lowest: number, highest: number] | undefined;
}

/** How often a load kept the limits, and how often it broke them. */
export interface Votes {
  readonly kept: number;
  readonly broken: number;
}

/** Measurements that must agree on a load that is confirmed. */
const MAJORITY = 2;

/** Returns the ends between loads that were tried. */
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
 * Reports whether ends answer the search: nothing between them is unresolved, or they are close enough to each other.
 * @param within largest accepted difference, as a ratio of the lower end
 */
export function isAnswered({ highest, broken, unresolved }: SearchEnds, within: number): boolean {
  if (unresolved === undefined) return true;
  return highest !== undefined && (broken ?? unresolved[1]) <= highest * (1 + within);
}

/**
 * A search on a ladder. Take `next`, measure it, and `add` the verdict, until there is no next load. Above a load that cannot be decided, the search
 * continues: more load often decides, because it gives more requests, and is further away from the limit.
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

  /** Adds the verdict on a load. */
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

  /** Returns the search with one more verdict, and leaves this one as it is. */
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

  /** Returns how often a load was measured. */
  timesTried(load: number): number {
    return this.tried.filter((one) => one === load).length;
  }

  /** Returns a load that moves an end closer to the unresolved loads: the one in the larger gap; undefined when they are close enough. */
  private aroundUnresolved(ends: SearchEnds, [lowest, top]: readonly [number, number]): number | undefined {
    const { ladder, within } = this;
    const { highest, broken } = ends;
    const above = broken === undefined ? ladder.above(top) : undefined;
    if (above !== undefined) return above;
    if (isAnswered(ends, within)) return undefined;
    // When these loads alone are too far apart, no measurement makes the ends close enough: then they come as close as accepted.
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
