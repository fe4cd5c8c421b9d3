import { countLevels } from "../../load/levels.ts";
import type { Plan } from "../../plan/plan.ts";
import { msToNs, nsToSec } from "../../plan/units.ts";
import { loadModeOf, planOfPhase } from "../../registry/load-modes.ts";
import type { PreparedRun } from "../../result/run-result.ts";
import type { RunProgressRatio } from "./run-snapshot.ts";

/** The extent of a run, as far as its plan fixes it. */
export interface ExpectedExtent {
  /** Number of requests, including warm-up; undefined if time decides. */
  readonly requestCount: number | undefined;
  /** Duration of all levels, including warm-up; undefined if it is not fixed. */
  readonly durationNs: number | undefined;
}

/** Returns the extent of a run. */
export function expectExtent({ plan, requestCount }: PreparedRun): ExpectedExtent {
  const { warmupRequests, warmupMs = 0 } = plan.measurement;
  const phases = loadModeOf(plan.load).phases?.(plan.load);
  if (phases !== undefined)
    return {
      requestCount: undefined,
      durationNs: sum(phases.map((_, index) => levelsNs(planOfPhase(plan, index), 0))),
    };
  const levelCount = levelCountOf(plan);
  // The number of requests in a timed warm-up is unknown.
  const isCounted = requestCount !== undefined && warmupMs === 0 && levelCount !== undefined;
  return {
    requestCount: isCounted ? (requestCount + warmupRequests) * levelCount : undefined,
    durationNs: warmupRequests > 0 ? undefined : levelsNs(plan, warmupMs),
  };
}

/** Returns the progress of a run. @param endedCount number of requests that ended @param passedNs time since its first level began */
export function progressOf(
  { requestCount, durationNs }: ExpectedExtent,
  endedCount: number,
  passedNs: number,
): RunProgressRatio | undefined {
  if (requestCount !== undefined) {
    const doneRatio = Math.min(1, endedCount / requestCount);
    const leftSec = doneRatio > 0 ? nsToSec(passedNs / doneRatio - passedNs) : undefined;
    return { doneRatio, leftSec, requestCount };
  }
  if (durationNs === undefined || durationNs <= 0) return undefined;
  const leftSec = nsToSec(Math.max(0, durationNs - passedNs));
  return { doneRatio: Math.min(1, passedNs / durationNs), leftSec, requestCount };
}

/** Returns the duration of all levels of a load without phases; undefined if it is not fixed. */
function levelsNs(plan: Plan, warmupMs: number): number | undefined {
  const { mode } = plan.measurement;
  const levelCount = levelCountOf(plan);
  if (mode.kind !== "duration" || levelCount === undefined) return undefined;
  return msToNs((mode.durationMs + warmupMs) * levelCount);
}

/** Returns the number of levels; undefined if it depends on the measurements. */
function levelCountOf({ load }: Plan): number | undefined {
  const asked = loadModeOf(load).levels?.(load);
  const count = asked === undefined ? 1 : countLevels(asked.levels);
  return asked === undefined || asked.search === "linear" || count === 1 ? count : undefined;
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  let total = 0;
  for (const value of values) {
    if (value === undefined) return undefined;
    total += value;
  }
  return total;
}

/** Time used by the levels of a run, without its waits for requests in flight. */
export class UsedTime {
  private firstLevelNs: number | undefined;
  private waitedNs = 0;
  private current: { readonly startNs: number; readonly limitNs: number } | undefined;

  get hasBegun(): boolean {
    return this.firstLevelNs !== undefined;
  }

  begin(atNs: number): void {
    this.firstLevelNs ??= atNs;
  }

  /** Begins a wait of at most this long; undefined: ends it. */
  wait(mostMs: number | undefined, atNs: number): void {
    this.waitedNs += this.waitingNs(atNs);
    this.current = mostMs === undefined ? undefined : { startNs: atNs, limitNs: atNs + msToNs(mostMs) };
  }

  /** Returns the longest remaining time of the current wait; undefined if there is none. */
  waitSec(atNs: number): number | undefined {
    return this.current && nsToSec(Math.max(0, this.current.limitNs - atNs));
  }

  /** Returns the time that the levels have used. */
  passedNs(atNs: number): number {
    const { firstLevelNs, waitedNs } = this;
    return firstLevelNs === undefined ? 0 : atNs - firstLevelNs - waitedNs - this.waitingNs(atNs);
  }

  private waitingNs(atNs: number): number {
    const { current, firstLevelNs } = this;
    return current === undefined || firstLevelNs === undefined ? 0 : atNs - Math.max(current.startNs, firstLevelNs);
  }
}
