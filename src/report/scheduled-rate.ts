import type { AskedRate, ScheduledRate } from "../measure/rate-shortfall.ts";
import type { Plan } from "../plan/plan.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import type { PreparedRun } from "../result/run-result.ts";

/** Returns how a level's requests were scheduled, to check whether the schedule was kept. */
export function scheduledRate({ plan, service, callMode, laneCount }: PreparedRun, level: number): ScheduledRate {
  const { concurrent, isSerial } = plan.sequences;
  const isOneByOne = service.isSequence && (isSerial || !plan.target.isStreaming);
  return {
    asked: askedRate(plan, level),
    isSync: callMode === "sync",
    laneCount,
    sequenceCount: isOneByOne ? concurrent : undefined,
    maxOutstanding: loadModeOf(plan.load).maxOutstanding?.(plan.load),
  };
}

/** Returns the request rate of a level; undefined if it changes, if requests are due at given times, or without a schedule. */
export function askedRate({ load }: Plan, level: number): AskedRate | undefined {
  const mode = loadModeOf(load);
  const arrivals = mode.arrivals?.(load);
  if (arrivals === undefined || mode.ramp?.(load) !== undefined) return undefined;
  return { perSec: level, gapDeviationRatio: arrivals.gapDeviationRatio };
}
