import { LEVEL_UNITS } from "../../load/level-units.ts";
import { levelAt } from "../../load/levels.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import type { RunSignal } from "../run-signal.ts";

/**
 * Measures a level.
 * @param repeat how often the level was measured before
 * @returns `kept`: it is stable and within the latency limit, so the search continues; `over`: it is over the limit; `ended`: neither
 */
export type RunLevel = (level: number, repeat: number) => Promise<LevelVerdict>;

/** What a measurement says of its level. */
export type LevelVerdict = "kept" | "over" | "ended";

export interface SearchOptions {
  /** A level over the limit, and the one before it, are measured again until two measurements agree. perf_analyzer believes the first. */
  readonly isConfirmed: boolean;
}

/** Visits the levels of a load as it asks. */
export function searchLevels(
  search: LevelSearch,
  signal: RunSignal,
  runLevel: RunLevel,
  { isConfirmed }: SearchOptions,
): Promise<void> {
  if (search.search === "binary") return searchBinary(search, signal, runLevel);
  return isConfirmed ? searchConfirmed(search, runLevel) : searchLinear(search, runLevel);
}

/** Measures one level after the other until one is too much. */
async function searchLinear({ levels }: LevelSearch, runLevel: RunLevel): Promise<void> {
  let index = 0;
  for (let level = levelAt(levels, 0); level !== undefined; level = levelAt(levels, ++index)) {
    if ((await runLevel(level, 0)) !== "kept") return;
  }
}

/** The same, but the level that is too much is confirmed, and then the last one that was not: one noisy measurement does not decide. */
async function searchConfirmed({ levels }: LevelSearch, runLevel: RunLevel): Promise<void> {
  let index = 0;
  for (let level = levelAt(levels, 0); level !== undefined; level = levelAt(levels, ++index)) {
    const first = await runLevel(level, 0);
    if (first === "kept") continue;
    if (first === "ended") return;
    const confirmed = await confirm(level, first, runLevel);
    if (confirmed === "kept") continue;
    if (confirmed === "ended") return;
    // Down to the first one that stands.
    while (--index >= 0) if ((await confirm(levelAt(levels, index) as number, "kept", runLevel)) !== "over") return;
    return;
  }
}

/** Measures a level until two measurements agree. */
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
