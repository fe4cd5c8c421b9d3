import { identifyLevel } from "../load/level-identity.ts";
import { endsOf, isAnswered } from "../load/search.ts";
import { defined } from "../plan/objects.ts";
import type { FindMaxResult, LevelResult } from "./run-result.ts";

/** Adds a level's result. A complete repeated measurement replaces the earlier one and keeps it in `repeats`. */
export function addLevel(levels: LevelResult[], result: LevelResult, isRepeated: boolean): void {
  const index = isRepeated ? levels.findLastIndex((level) => identifyLevel(level) === identifyLevel(result)) : -1;
  const before = levels[index];
  if (before === undefined) {
    levels.push(result);
    return;
  }
  const { repeats = [], ...earlier } = before;
  levels[index] =
    result.outcome === "partial"
      ? { ...earlier, repeats: [...repeats, result] }
      : { ...result, repeats: [...repeats, earlier] };
}

/**
 * Returns what a search for the highest level found.
 * @param isWhole whether the search was completed @param within largest accepted distance between its two bounds, as a ratio;
 *   default: 0
 */
export function findMaxOf(levels: readonly LevelResult[], isWhole: boolean, within = 0): FindMaxResult {
  const tried = levels.flatMap(({ level, limits }) =>
    limits === undefined ? [] : [{ load: level, state: limits.state, isSent: limits.reason === undefined }],
  );
  const ends = endsOf(tried);
  const { highest, broken } = ends;
  const isSent = !tried.some(
    ({ load, state, isSent: sent }) => state === "unresolved" && !sent && load > (highest ?? 0),
  );
  return {
    ...defined({ highest, next: broken }),
    isResolved: isWhole && isSent && isAnswered(ends, within),
  };
}
