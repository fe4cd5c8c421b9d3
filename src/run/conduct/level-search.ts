import { ladderOf } from "../../load/load-ladder.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import { endsOf, LoadSearch } from "../../load/search.ts";
import type { FindMaxResult, LevelResult } from "../../result/run-result.ts";
import type { RunSignal } from "../interrupt.ts";

/**
 * Measures a level.
 * @param repeat number of earlier measurements of the level
 * @returns `kept`: stable and within the limits, so the search continues; `over`: not within them; `ended`: neither
 */
export type RunLevel = (level: number, repeat: number) => Promise<LevelVerdict>;

/** The result of measuring a level, for the search. */
export type LevelVerdict = "kept" | "over" | "ended";

export interface SearchOptions {
  /** Whether a linear search measures levels again before it ends at them. perf_analyzer uses the first measurement. */
  readonly isConfirmed: boolean;
}

/** Measures the levels of a load in the order of its search. */
export async function searchLevels(
  load: LevelSearch,
  signal: RunSignal,
  runLevel: RunLevel,
  { isConfirmed }: SearchOptions,
): Promise<void> {
  const ladder = ladderOf(load);
  const search = new LoadSearch(ladder, isConfirmed && load.search === "linear" ? "steps" : "none");
  for (let rung = search.next(); rung !== undefined; rung = search.next()) {
    const verdict = await runLevel(ladder.levelAt(rung), search.timesTried(rung));
    // In a binary search, an unstable level is one over the limit, like in perf_analyzer.
    if (signal.isStopped || (verdict === "ended" && load.search !== "binary")) return;
    search.add(rung, verdict === "kept");
  }
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
