import { LEVEL_UNITS } from "../../load/level-units.ts";
import { rangeOf } from "../../load/levels.ts";
import type { LoadPlan } from "../../plan/load-plan.ts";
import type { CallModePlan } from "../../plan/plan.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { DEFAULT_ASYNC_LANES, DEFAULT_SCHEDULE_LANES } from "../../run/lanes.ts";

/** Maximum number of lanes of a load without --max-threads; null: as many as it needs. */
export function defaultLanes(load: LoadPlan, callMode: CallModePlan): number | null {
  const mode = loadModeOf(load);
  if (mode.dataOrder === "in-sessions") return null;
  const asked = mode.levels?.(load);
  if (asked === undefined || LEVEL_UNITS[mode.unit].isScheduled) return DEFAULT_SCHEDULE_LANES;
  if (callMode === "sync") return null;
  const range = rangeOf(asked.levels);
  const end = range === undefined || range.isThreadLimited === true ? 1 : (range.end ?? 1);
  return Math.max(DEFAULT_ASYNC_LANES, end);
}
