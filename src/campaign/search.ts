/** Search for the highest load that meets the limits: doubles until a load breaks them, bisects, and confirms both ends. */

/** The loads that can be tried. */
export interface Ladder {
  readonly first: number;
  /** Next load after one that meets the limits, when no load above is known to break them; undefined at the top. */
  above(kept: number): number | undefined;
  /** Load between the two; undefined when they are close enough. */
  between(kept: number, broken: number): number | undefined;
}

/** Result of a search. */
export type SearchAnswer =
  /** `broken` is the lowest load above that breaks the limits; undefined when the highest possible load meets them. */
  | {
      readonly kind: "found";
      readonly highest: number;
      readonly broken: number | undefined;
      readonly highestVotes: Votes;
      readonly brokenVotes: Votes | undefined;
    }
  /** Even the lowest load breaks the limits. */
  | { readonly kind: "none"; readonly lowest: number; readonly lowestVotes: Votes }
  | { readonly kind: "stopped" };

/** Bisection ends at this ratio of the range's lower end, for concurrencies at 1. Measurements vary by more than that. */
const CLOSE_ENOUGH = 0.02;

/** Source of the loads to try. */
export type SearchedLoads =
  | { readonly kind: "range"; readonly min: number; readonly max: number }
  | { readonly kind: "list"; readonly values: readonly number[] };

/**
 * Creates the ladder for a range of loads or a list of values.
 * @param isWhole whether loads of a range are integers; otherwise they have three significant digits
 */
export function createLadder(loads: SearchedLoads, isWhole: boolean): Ladder {
  return loads.kind === "list" ? climbList(loads.values) : climbRange(loads.min, loads.max, isWhole);
}

function climbRange(min: number, max: number, isWhole: boolean): Ladder {
  return {
    first: min,
    above: (kept) => (kept >= max ? undefined : Math.min(2 * kept, max)),
    between: (kept, broken) => {
      if (broken - kept <= Math.max(isWhole ? 1 : 0, CLOSE_ENOUGH * kept)) return undefined;
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

/** How often a load met the limits, and how often it broke them. */
export interface Votes {
  readonly kept: number;
  readonly broken: number;
}

/** Measurements that must agree on a reported load, because a single one may be noise. */
const MAJORITY = 2;

/**
 * Runs the search. Repeats the measurements of the best load and of the lowest load that breaks the limits until two measurements of each
 * agree. If that reverses an earlier result, the search continues from there.
 * @param keeps returns whether a load meets the limits; undefined ends the search
 * @param keeps.repeat number of earlier measurements of the load
 */
export async function searchHighest(
  ladder: Ladder,
  keeps: (load: number, repeat: number) => Promise<boolean | undefined>,
): Promise<SearchAnswer> {
  const votes = new Map<number, Votes>();
  for (;;) {
    const ends = endsOf(votes);
    const load = nextLoad(ladder, ends, votes);
    if (load === undefined) return answerOf(ends, votes);
    const { kept, broken } = votesOf(votes, load);
    const isKept = await keeps(load, kept + broken);
    if (isKept === undefined) return { kind: "stopped" };
    votes.set(load, isKept ? { kept: kept + 1, broken } : { kept, broken: broken + 1 });
  }
}

interface Ends {
  readonly highest: number | undefined;
  readonly broken: number | undefined;
}

/** Returns the lowest load that breaks the limits, and the highest one below it that meets them. */
function endsOf(votes: ReadonlyMap<number, Votes>): Ends {
  const loads = [...votes.keys()].toSorted((a, b) => a - b);
  const isKept = (load: number): boolean => votesOf(votes, load).kept > votesOf(votes, load).broken;
  const broken = loads.find((load) => !isKept(load));
  const highest = loads.findLast((load) => isKept(load) && (broken === undefined || load < broken));
  return { highest, broken };
}

/** Returns the load to measure next; undefined when the ends are close enough and confirmed. */
function nextLoad(ladder: Ladder, { highest, broken }: Ends, votes: ReadonlyMap<number, Votes>): number | undefined {
  if (highest === undefined && broken === undefined) return ladder.first;
  const undecided = [...votes.keys()].find((load) => votesOf(votes, load).kept === votesOf(votes, load).broken);
  if (undecided !== undefined) return undecided;
  if (highest !== undefined) {
    const next = broken === undefined ? ladder.above(highest) : ladder.between(highest, broken);
    if (next !== undefined) return next;
  }
  return [highest, broken].find((load) => load !== undefined && !isConfirmed(votesOf(votes, load)));
}

function isConfirmed({ kept, broken }: Votes): boolean {
  return Math.max(kept, broken) >= MAJORITY;
}

function answerOf({ highest, broken }: Ends, votes: ReadonlyMap<number, Votes>): SearchAnswer {
  if (highest === undefined) {
    const lowest = broken as number;
    return { kind: "none", lowest, lowestVotes: votesOf(votes, lowest) };
  }
  const brokenVotes = broken === undefined ? undefined : votesOf(votes, broken);
  return { kind: "found", highest, broken, highestVotes: votesOf(votes, highest), brokenVotes };
}

function votesOf(votes: ReadonlyMap<number, Votes>, load: number): Votes {
  return votes.get(load) ?? { kept: 0, broken: 0 };
}
