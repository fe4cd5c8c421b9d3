import { identifyLevel, type LevelPlace } from "../load/level-identity.ts";
import type { Measurement } from "../measure/measurement.ts";
import { hasTags, type Tags } from "../plan/groups/tags.ts";
import { defined } from "../plan/objects.ts";
import type { LevelResult, RunResult } from "./run-result.ts";

/** The levels of a run that count, for reports and for assertions. */

/** Reports whether a run measured responses. False if there were none, or if the run ended before its first window. */
export function isMeasured({ completedCount, levels, warmup }: RunResult): boolean {
  const warmedUpCount = warmup === undefined ? 0 : warmup.sentCount - warmup.failedCount;
  return completedCount > warmedUpCount && levels.length > 0;
}

/** Returns the levels with a finished request. Reports show these. */
export function measuredLevels({ levels }: RunResult): LevelResult[] {
  return levels.filter(({ window }) => window.requestCount + window.failedCount > 0);
}

/** Returns the levels at which assertions must hold: all measured levels, or after a search the level that it found. */
export function judgedLevels(result: RunResult): LevelResult[] {
  const measured = measuredLevels(result);
  const { findMax } = result;
  return findMax === undefined ? measured : measured.filter(({ level }) => level === findMax.highest);
}

/**
 * Returns the number of requests that had no response when the run ended, although they got more time than any other had needed.
 * @param isOne whether requests with certain tags count. Default: all requests, also those without tags
 */
export function unansweredCount({ failures }: RunResult, isOne?: (tags: Tags) => boolean): number {
  const unfinished = failures.filter(({ kind }) => kind === "unfinished");
  const tagged = unfinished.flatMap((one) => one.tagged ?? []);
  const counted = isOne === undefined ? unfinished : tagged.filter(({ tags }) => isOne(tags));
  return counted.reduce((sum, { count }) => sum + count, 0);
}

/** Returns the levels at which assertions must hold, as if the requests without a response had failed at the last of them. */
export function levelsAsIfFailed(result: RunResult): LevelResult[] {
  const unanswered = unansweredCount(result);
  return judgedLevels(result).map((level, index, { length }) => {
    if (index < length - 1) return level;
    const { window } = level;
    const groups = window.groups?.map((group) => {
      const isSame = (tags: Tags): boolean => hasTags(tags, group.tags) && hasTags(group.tags, tags);
      return { ...group, window: withFailed(group.window, unansweredCount(result, isSame)) };
    });
    return { ...level, window: { ...withFailed(window, unanswered), ...defined({ groups }) } };
  });
}

function withFailed<W extends Pick<Measurement, "failedCount">>(window: W, count: number): W {
  return { ...window, failedCount: window.failedCount + count };
}

/** Returns why a run has no level to judge its assertions at; undefined when they are judged. */
export function whyUnjudged({ findMax }: RunResult): string | undefined {
  if (findMax === undefined || findMax.highest !== undefined) return undefined;
  return `no load ${findMax.isResolved ? "keeps" : "is known to keep"} the limits`;
}

/** Above this ratio of unsent requests, the load was not the requested one. Less may be one late moment at the end of a level. */
const BEHIND_RATIO = 0.05;
const BEHIND_NS = 0.1e9;

/** Returns the number of requests that were due within a level. */
export function dueCount({ window, unsentCount = 0 }: Pick<LevelResult, "window" | "unsentCount">): number {
  return window.sentCount + unsentCount;
}

/** Reports whether the client was so far behind its schedule at the end of a level that it did not send the requested load. */
export function isFarBehind(level: Pick<LevelResult, "window" | "unsentCount" | "delayedByLimit">): boolean {
  const { unsentCount = 0, delayedByLimit, window } = level;
  // The user wants the load's limit to delay requests.
  if ((delayedByLimit?.longestNs ?? 0) > 0) return false;
  const ratio = unsentCount === 0 ? 0 : unsentCount / dueCount(level);
  return ratio > BEHIND_RATIO && ratio * window.durationNs > BEHIND_NS;
}

/** The levels at which a metric over runs is taken. */
interface JudgedRuns {
  /** The levels of each run that counts. */
  readonly runs: readonly (readonly LevelResult[])[];
  /** Returns a key that is the same for a level in every run. */
  readonly identify: (level: LevelPlace) => string;
}

/**
 * Returns the levels at which assertions over runs are judged: all measured levels, each with the same level of the other runs.
 * For a search it is the highest load of each run, which may differ between runs; a run whose search has no certain result does
 * not count.
 * @param runs runs that ended as planned @param levelsOf returns the levels of a run
 */
export function judgedInRuns(runs: readonly RunResult[], levelsOf = judgedLevels): JudgedRuns {
  const isSearch = runs.some(({ findMax }) => findMax !== undefined);
  return {
    runs: runs.filter(({ findMax }) => findMax?.isResolved !== false).map(levelsOf),
    identify: isSearch ? () => "highest" : identifyLevel,
  };
}
