import type { LevelResult, RunResult } from "./run-result.ts";

/** Returns the levels with a finished request, which reports show. */
export function measuredLevels({ levels }: RunResult): LevelResult[] {
  return levels.filter(({ window }) => window.requestCount + window.failedCount > 0);
}

/** Returns the levels at which assertions must hold: all that were measured, or after a search the one that it found. */
export function judgedLevels(result: RunResult): LevelResult[] {
  const measured = measuredLevels(result);
  const { findMax } = result;
  return findMax === undefined ? measured : measured.filter(({ level }) => level === findMax.highest);
}
