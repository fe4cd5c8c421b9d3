import type { SchedulePartPlan } from "../../../plan/load-options.ts";
import type { LoadPlan } from "../../../plan/load-plan.ts";
import { loadOf } from "../loads.ts";
import type { GenaiSettings } from "../options/settings.ts";

/** Returns the load: when requests are sent. */
export function toLoad({ input, perfAnalyzer, rampart }: GenaiSettings): LoadPlan {
  const { stimulus } = perfAnalyzer;
  return loadOf(stimulus.kind).toPlan(stimulus.value ?? 1, rampart, input.randomSeed);
}

/** Returns the part of a payload file that is sent by its timestamps; undefined for all of it, and for other loads. */
export function schedulePartOf(settings: GenaiSettings): SchedulePartPlan | undefined {
  const load = toLoad(settings);
  return "part" in load ? load.part : undefined;
}
