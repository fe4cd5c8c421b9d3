import { levelAt } from "../load/levels.ts";
import type { LevelSearch } from "../load/load-mode.ts";
import type { RunSignal } from "./run-signal.ts";

/** Measures a level; true when it is stable and within the latency limit, so that the search goes on. */
export type RunLevel = (level: number) => Promise<boolean>;

/** Goes through the levels of a load as it asks. */
export function searchLevels(search: LevelSearch, signal: RunSignal, runLevel: RunLevel): Promise<void> {
  return search.search === "binary" ? searchBinary(search, signal, runLevel) : searchLinear(search, runLevel);
}

/** Measures one level after the other until one is too much. */
async function searchLinear({ levels }: LevelSearch, runLevel: RunLevel): Promise<void> {
  let index = 0;
  for (let level = levelAt(levels, 0); level !== undefined; level = levelAt(levels, ++index)) {
    if (!(await runLevel(level))) return;
  }
}

/** Measures the start, the end, then midpoints until the interval is as small as the step. */
async function searchBinary({ levels, unit }: LevelSearch, signal: RunSignal, runLevel: RunLevel): Promise<void> {
  if (levels.kind !== "range" || levels.end === null) throw new Error("a binary search needs a range with an end");
  if (!(await runLevel(levels.start))) return;
  if (await runLevel(levels.end)) return;
  let low = levels.start;
  let high = levels.end;
  while (high - low > levels.step && !signal.isStopped) {
    const middle = unit === "concurrency" ? Math.floor((low + high) / 2) : (low + high) / 2;
    if (await runLevel(middle)) low = middle;
    else high = middle;
  }
}
