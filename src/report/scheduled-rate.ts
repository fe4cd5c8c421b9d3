import type { AskedRate, ScheduledRate } from "../measure/rate-shortfall.ts";
import type { Plan } from "../plan/plan.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import type { PreparedRun } from "../result/run-result.ts";

/** How a run's requests were scheduled at a level, to judge whether its schedule was kept. */
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

/** The request rate of a level; undefined where it changes, where requests are due at given times, or not scheduled at all. */
export function askedRate({ load }: Plan, level: number): AskedRate | undefined {
  const mode = loadModeOf(load);
  const arrivals = mode.arrivals?.(load);
  if (arrivals === undefined || mode.ramp?.(load) !== undefined) return undefined;
  return { perSec: level, gapDeviationRatio: arrivals.gapDeviationRatio };
}
