import type { Ladder } from "../load/load-ladder.ts";

/** Search for the highest load that meets the limits: doubles until a load breaks them, bisects, and confirms both ends. */

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
