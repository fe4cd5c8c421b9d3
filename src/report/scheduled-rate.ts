import type { ScheduledRate } from "../measure/rate-shortfall.ts";
import type { PreparedRun } from "../run/observer.ts";

/** How a run's requests were scheduled at a level, to judge whether its schedule was kept. */
export function scheduledRate({ plan, service, callMode, laneCount }: PreparedRun, level: number): ScheduledRate {
  const { concurrent, isSerial } = plan.sequences;
  const isOneByOne = service.isSequence && (isSerial || !plan.target.isStreaming);
  return {
    askedPerSec: plan.load.kind === "request-rate" ? level : undefined,
    isSync: callMode === "sync",
    laneCount,
    sequenceCount: isOneByOne ? concurrent : undefined,
  };
}
