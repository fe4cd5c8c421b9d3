import { identifyLevel } from "../../load/level-identity.ts";
import { endsOf } from "../../load/search.ts";
import type { FindMaxResult, LevelResult } from "../../result/run-result.ts";

/**
 * Adds a level's result. That of a repeated measurement replaces the earlier one and keeps it in `repeats`; a partial one does not replace
 * it.
 */
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

/** Returns what a search for the highest level found. @param isWhole whether it came to its end */
export function findMaxOf(levels: readonly LevelResult[], isWhole: boolean): FindMaxResult {
  const tried = levels.flatMap(({ level, limits }) =>
    limits === undefined ? [] : [{ load: level, isKept: limits.state === "kept" }],
  );
  const { highest, broken } = endsOf(tried);
  const above = levels.find(({ level }) => level === broken);
  return {
    ...(highest === undefined ? {} : { highest }),
    ...(broken === undefined ? {} : { next: broken }),
    isResolved: isWhole && (above === undefined || above.limits?.state === "broken"),
  };
}
