import type { Sweep } from "../settings.ts";

/** The search for the highest load that keeps limits: doubling until one breaks them, then halving between. */

/** Which loads can be tried. */
export interface Ladder {
  readonly first: number;
  /** What to try after a load that keeps the limits and above which none is known to break them; undefined at the top. */
  above(kept: number): number | undefined;
  /** What to try between; undefined when they are close enough. */
  between(kept: number, broken: number): number | undefined;
}

/** What a search came to. */
export type SearchAnswer =
  /** `broken` is the lowest load above that breaks the limits; undefined when the highest of all keeps them. */
  | { readonly kind: "found"; readonly highest: number; readonly broken: number | undefined }
  /** Even the lowest breaks them. */
  | { readonly kind: "none"; readonly lowest: number }
  | { readonly kind: "stopped" };

/** A range is halved until it is this share of its lower end; concurrencies down to 1. Measurements differ by more than that. */
const CLOSE_ENOUGH = 0.02;

/** The loads of a sweep: all between the ends of a range (rates to three digits), or the values of a list. */
export function createLadder(sweep: Sweep): Ladder {
  return sweep.kind === "list" ? climbList(sweep.values) : climbRange(sweep);
}

function climbRange({ type, min, max }: Sweep & { readonly kind: "range" }): Ladder {
  const isWhole = type !== "request_rate";
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
    // Of n values the 1st, 2nd, 4th, 8th …
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

/** Searches. @param keeps whether a load keeps the limits; undefined ends the search */
export async function searchHighest(
  ladder: Ladder,
  keeps: (load: number) => Promise<boolean | undefined>,
): Promise<SearchAnswer> {
  let highest: number | undefined;
  let broken: number | undefined;
  for (let load: number | undefined = ladder.first; load !== undefined; ) {
    const isKept = await keeps(load);
    if (isKept === undefined) return { kind: "stopped" };
    if (isKept) highest = load;
    else broken = load;
    if (highest === undefined) return { kind: "none", lowest: load };
    load = broken === undefined ? ladder.above(highest) : ladder.between(highest, broken);
  }
  return { kind: "found", highest: highest as number, broken };
}
