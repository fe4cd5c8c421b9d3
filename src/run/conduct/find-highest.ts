import { highestKept, lowestNotKept, nextLoad } from "../../load/highest-load.ts";
import { LEVEL_UNITS } from "../../load/level-units.ts";
import { createLadder } from "../../load/load-ladder.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import type { FindMaxResult, LevelResult } from "../../result/run-result.ts";
import type { RunSignal } from "../run-signal.ts";
import type { RunLevel } from "./run-level.ts";

/** Measures levels until the highest one that keeps the limits is found. */
export async function findHighest({ levels, unit }: LevelSearch, signal: RunSignal, runLevel: RunLevel): Promise<void> {
  if (levels.kind !== "range" || levels.end === null) throw new Error("a search needs a range with an end");
  const range = { kind: "range", min: levels.start, max: levels.end } as const;
  const ladder = createLadder(range, LEVEL_UNITS[unit].isWhole);
  const tried = { kept: [] as number[], notKept: [] as number[] };
  for (let level = nextLoad(ladder, tried); level !== undefined; level = nextLoad(ladder, tried)) {
    const verdict = await runLevel(level, 0);
    if (verdict === "ended" || signal.isStopped) return;
    (verdict === "kept" ? tried.kept : tried.notKept).push(level);
  }
}

/** Returns what a search found. @param isWhole whether it came to its end */
export function findMaxOf(levels: readonly LevelResult[], isWhole: boolean): FindMaxResult {
  const levelsOf = (isKept: boolean): number[] =>
    levels.flatMap(({ level, limits }) =>
      limits !== undefined && (limits.state === "kept") === isKept ? [level] : [],
    );
  const tried = { kept: levelsOf(true), notKept: levelsOf(false) };
  const highest = highestKept(tried);
  const next = lowestNotKept(tried);
  const above = levels.find(({ level }) => level === next);
  return {
    ...(highest === undefined ? {} : { highest }),
    ...(next === undefined ? {} : { next }),
    isResolved: isWhole && (above === undefined || above.limits?.state === "broken"),
  };
}
