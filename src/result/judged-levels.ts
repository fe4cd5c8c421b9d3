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

/** Returns why a run has no level to judge its assertions at; undefined when they are judged. */
export function whyUnjudged({ findMax }: RunResult): string | undefined {
  if (findMax === undefined || findMax.highest !== undefined) return undefined;
  return `not judged: no load ${findMax.isResolved ? "keeps" : "is known to keep"} the limits`;
}
