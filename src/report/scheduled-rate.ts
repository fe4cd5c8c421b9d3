import type { AskedRate, ScheduledRate } from "../measure/rate-shortfall.ts";
import type { Plan } from "../plan/plan.ts";
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
    maxOutstanding: plan.load.kind === "request-rate" ? plan.load.maxOutstanding : undefined,
  };
}

/** Returns the request rate of a level; undefined if it changes, if requests are due at given times, or without a schedule. */
export function askedRate({ load }: Plan, level: number): AskedRate | undefined {
  if (load.kind !== "request-rate" || load.ramp !== undefined) return undefined;
  const { distribution, smoothness = 1 } = load;
  return { perSec: level, gapDeviationRatio: distribution === "constant" ? 0 : 1 / Math.sqrt(smoothness) };
}
