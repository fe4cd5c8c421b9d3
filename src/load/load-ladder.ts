/** Which loads a search for the highest load tries. */

/** The loads that can be tried. */
export interface Ladder {
  readonly first: number;
  /** Next load after one that meets the limits, when no load above is known to break them; undefined at the top. */
  above(kept: number): number | undefined;
  /** Load between the two; undefined when they are close enough. */
  between(kept: number, broken: number): number | undefined;
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
