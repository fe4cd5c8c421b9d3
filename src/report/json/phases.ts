import type { Change, PhaseVerdict } from "../../measure/phase-verdicts.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToSec, nsToUs } from "../../plan/units.ts";
import type { LevelResult, PhasesResult } from "../../result/run-result.ts";
import { verdictsOfPhases } from "../run-verdicts.ts";
import type { CheckJson, PhasesJson } from "../schema/runs.ts";
import { toDeliveryJson, toTimelineJson } from "./level-parts.ts";

/** Returns the measured levels of a phase of a run. */
function levelsOf(levels: readonly LevelResult[], index: number): LevelResult[] {
  return levels.filter(({ phase, window }) => phase?.index === index && window.durationNs > 0);
}

/** Converts the phases and the time line to JSON. @param levels all of the run */
export function toPhasesJson(
  plan: Plan,
  { phases, after, timeline }: PhasesResult,
  levels: readonly LevelResult[],
): PhasesJson {
  const verdicts = verdictsOfPhases(plan, levels);
  return {
    phases: phases.map(({ index, label, isWarmup, startNs, endNs, tally, openBeforeCount, openAfterCount }) => ({
      name: label,
      ...(isWarmup ? { isWarmup } : {}),
      startSec: nsToSec(startNs),
      endSec: nsToSec(endNs),
      inFlightAtStart: openBeforeCount,
      inFlightAtEnd: openAfterCount,
      sent: tally.sentCount,
      completed: tally.completedCount,
      failed: tally.failedCount,
      cancelled: tally.cancelledCount,
      load: levelsOf(levels, index).map((level) => ({ level: level.level, ...toDeliveryJson(plan, level) })),
      checks: verdicts.filter(({ phaseIndex }) => phaseIndex === index).map(toVerdictJson),
    })),
    afterPhases: { completed: after.completedCount, failed: after.failedCount, cancelled: after.cancelledCount },
    timeline: toTimelineJson(timeline),
  };
}

function toVerdictJson({ text, state, measured, drift, recovery }: PhaseVerdict): CheckJson {
  return {
    ...{ text, state, isMet: state === "pass", measured },
    ...(drift && { latencyChange: toChangeJson(drift.latency), throughputChange: toChangeJson(drift.throughput) }),
    ...(recovery && {
      recoverySec: recovery.tookNs === undefined ? null : nsToSec(recovery.tookNs),
      baseMedianUs: nsToUs(recovery.baseNs),
      intervalSec: nsToSec(recovery.intervalNs),
    }),
  };
}

function toChangeJson({ ratio, lowRatio, highRatio }: Change): NonNullable<CheckJson["latencyChange"]> {
  return { ratio, lowRatio, highRatio };
}
