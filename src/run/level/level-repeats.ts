import type { LevelResult } from "../../result/run-result.ts";

/** Levels that are measured again to confirm what they say. */

/**
 * Puts the measurement of a level that was measured before in the place of the last one of it, which it then carries along. A measurement that
 * was cut short does not stand for its level.
 */
export function repeatLevel(levels: LevelResult[], result: LevelResult): void {
  const index = levels.findLastIndex(({ level }) => level === result.level);
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
