import { LEVEL_UNITS } from "../../load/level-units.ts";
import { levelAt } from "../../load/levels.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import type { RunSignal } from "../run-signal.ts";
import { findHighest } from "./find-highest.ts";
import type { LevelVerdict, RunLevel } from "./run-level.ts";

export interface SearchOptions {
  /** Measure a level over the limit, and the one before it, again until two measurements agree. perf_analyzer uses the first. */
  readonly isConfirmed: boolean;
}

/** Measures the levels of a load in the order of its search. */
export function searchLevels(
  search: LevelSearch,
  signal: RunSignal,
  runLevel: RunLevel,
  { isConfirmed }: SearchOptions,
): Promise<void> {
  if (search.search === "highest") return findHighest(search, signal, runLevel);
  if (search.search === "binary") return searchBinary(search, signal, runLevel);
  return isConfirmed ? searchConfirmed(search, runLevel) : searchLinear(search, runLevel);
}

/** Measures levels in order until one is over the limit. */
async function searchLinear({ levels }: LevelSearch, runLevel: RunLevel): Promise<void> {
  let index = 0;
  for (let level = levelAt(levels, 0); level !== undefined; level = levelAt(levels, ++index)) {
    if ((await runLevel(level, 0)) !== "kept") return;
  }
}

/**
 * Like the linear search, but confirms the first level over the limit, and then the last one below it, so that one noisy measurement does
 * not decide.
 */
async function searchConfirmed({ levels }: LevelSearch, runLevel: RunLevel): Promise<void> {
  let index = 0;
  for (let level = levelAt(levels, 0); level !== undefined; level = levelAt(levels, ++index)) {
    const first = await runLevel(level, 0);
    if (first === "kept") continue;
    if (first === "ended") return;
    const confirmed = await confirm(level, first, runLevel);
    if (confirmed === "kept") continue;
    if (confirmed === "ended") return;
    // Go down to the first level that is confirmed.
    while (--index >= 0) if ((await confirm(levelAt(levels, index) as number, "kept", runLevel)) !== "over") return;
    return;
  }
}

/** Measures a level again until two measurements agree. */
async function confirm(level: number, first: LevelVerdict, runLevel: RunLevel): Promise<LevelVerdict> {
  const second = await runLevel(level, 1);
  return second === first || second === "ended" ? second : runLevel(level, 2);
}

/** Measures the start, the end, then midpoints until the interval is as small as the step. */
async function searchBinary({ levels, unit }: LevelSearch, signal: RunSignal, runLevel: RunLevel): Promise<void> {
  if (levels.kind !== "range" || levels.end === null) throw new Error("a binary search needs a range with an end");
  const isKept = async (level: number): Promise<boolean> => (await runLevel(level, 0)) === "kept";
  if (!(await isKept(levels.start))) return;
  if (await isKept(levels.end)) return;
  let low = levels.start;
  let high = levels.end;
  while (high - low > levels.step && !signal.isStopped) {
    const middle = LEVEL_UNITS[unit].isWhole ? Math.floor((low + high) / 2) : (low + high) / 2;
    if (await isKept(middle)) low = middle;
    else high = middle;
  }
}
