import type { Ladder } from "./load-ladder.ts";

/** The search for the highest load that keeps all limits: doubles from the lowest load, then bisects. */

/** Loads that were tried. */
export interface TriedLoads {
  readonly kept: readonly number[];
  /** Loads that break a limit, or at which a limit could not be decided. */
  readonly notKept: readonly number[];
}

/** Returns the highest load that keeps the limits below all that do not; undefined when there is none. */
export function highestKept({ kept, notKept }: TriedLoads): number | undefined {
  const lowest = lowestNotKept({ kept, notKept }) ?? Number.POSITIVE_INFINITY;
  const below = kept.filter((load) => load < lowest);
  return below.length === 0 ? undefined : Math.max(...below);
}

/** Returns the lowest load that does not keep the limits; undefined when all do. */
export function lowestNotKept({ notKept }: TriedLoads): number | undefined {
  return notKept.length === 0 ? undefined : Math.min(...notKept);
}

/** Returns the load to try next; undefined when the search is over. */
export function nextLoad(ladder: Ladder, tried: TriedLoads): number | undefined {
  const low = highestKept(tried);
  const high = lowestNotKept(tried);
  if (low === undefined) return high === undefined ? ladder.first : undefined;
  return high === undefined ? ladder.above(low) : ladder.between(low, high);
}
