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

/** A load and whether it keeps the limits. */
export interface TriedLoad {
  readonly load: number;
  /** False also if it could not be decided. */
  readonly isKept: boolean;
}

/** What a search has found. */
export interface SearchEnds {
  /** Highest load that keeps the limits, below all that do not. */
  readonly highest: number | undefined;
  /** Lowest load that does not keep the limits; undefined when all do. */
  readonly broken: number | undefined;
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
  const sorted = tried.toSorted((a, b) => a.load - b.load);
  const broken = sorted.find(({ isKept }) => !isKept)?.load;
  const highest = sorted.findLast(({ load, isKept }) => isKept && (broken === undefined || load < broken))?.load;
  return { highest, broken };
}

/** A search on a ladder. Take `next`, measure it, and `add` the verdict, until there is no next load. */
export class LoadSearch {
  private readonly ladder: Ladder;
  private readonly confirmation: Confirmation;
  private readonly tried: number[] = [];
  private readonly votes = new Map<number, Votes>();

  constructor(ladder: Ladder, confirmation: Confirmation = "none") {
    this.ladder = ladder;
    this.confirmation = confirmation;
  }

  /** Returns the load to try next; undefined when the search is over. */
  next(): number | undefined {
    const { ladder, confirmation, tried, votes } = this;
    if (tried.length === 0) return ladder.first;
    const undecided = [...votes].find(([, { kept, broken }]) => kept === broken);
    if (undecided !== undefined) return undecided[0];
    const { highest, broken } = this.ends;
    if (confirmation === "steps" && this.isUnsure(broken)) return broken;
    if (highest !== undefined) {
      const next = broken === undefined ? ladder.above(highest) : ladder.between(highest, broken);
      if (next !== undefined) return next;
    }
    if (confirmation === "none" || (confirmation === "steps" && broken === undefined)) return undefined;
    return [highest, broken].find((load) => this.isUnsure(load));
  }

  /** Adds the verdict on a load. */
  add(load: number, isKept: boolean): void {
    const { kept, broken } = this.votesOf(load);
    this.tried.push(load);
    this.votes.set(load, isKept ? { kept: kept + 1, broken } : { kept, broken: broken + 1 });
    const isPassed = this.confirmation === "steps" && this.ends.broken === undefined;
    if (isPassed) this.votes.set(load, { kept: 1, broken: 0 });
  }

  /** Returns the search with one more verdict, and leaves this one as it is. */
  with(load: number, isKept: boolean): LoadSearch {
    const search = new LoadSearch(this.ladder, this.confirmation);
    search.tried.push(...this.tried);
    for (const [tried, votes] of this.votes) search.votes.set(tried, votes);
    search.add(load, isKept);
    return search;
  }

  get ends(): SearchEnds {
    return endsOf([...this.votes].map(([load, { kept, broken }]) => ({ load, isKept: kept > broken })));
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

  private isUnsure(load: number | undefined): boolean {
    if (load === undefined) return false;
    const { kept, broken } = this.votesOf(load);
    return Math.max(kept, broken) < MAJORITY;
  }
}
