import { identifyLevel } from "../../load/level-identity.ts";
import type { LevelResult } from "../../result/run-result.ts";

/**
 * Replaces a level's measurement by a repeated one, which keeps the earlier ones in `repeats`. A partial measurement does not replace the
 * earlier one.
 */
export function repeatLevel(levels: LevelResult[], result: LevelResult): void {
  const index = levels.findLastIndex((level) => identifyLevel(level) === identifyLevel(result));
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
