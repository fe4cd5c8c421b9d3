import type { ScheduledRate } from "../measure/rate-shortfall.ts";
import type { Plan } from "../plan/plan.ts";
import type { PreparedRun } from "../run/observer.ts";

/** How a run's requests were scheduled at a level, to judge whether its schedule was kept. */
export function scheduledRate({ plan, service, callMode, laneCount }: PreparedRun, level: number): ScheduledRate {
  const { concurrent, isSerial } = plan.sequences;
  const isOneByOne = service.isSequence && (isSerial || !plan.target.isStreaming);
  return {
    askedPerSec: askedPerSec(plan, level),
    isSync: callMode === "sync",
    laneCount,
    sequenceCount: isOneByOne ? concurrent : undefined,
    maxOutstanding: plan.load.kind === "request-rate" ? plan.load.maxOutstanding : undefined,
  };
}

/** The request rate of a level, per second; undefined where it changes, where requests are due at given times, or not scheduled at all. */
export function askedPerSec({ load }: Plan, level: number): number | undefined {
  return load.kind === "request-rate" && load.ramp === undefined ? level : undefined;
}
