import { largestLevel } from "../load/levels.ts";
import type { LevelSearch } from "../load/load-mode.ts";
import type { Plan } from "../plan/plan.ts";

/** perf_analyzer's default number of worker threads for asynchronous concurrency, and for schedules. */
const DEFAULT_ASYNC_LANES = 16;
const DEFAULT_SCHEDULE_LANES = 4;
/** Every slot is a lane of its own. */
const UNSHARED = 2 ** 30;

/**
 * How many lanes the slots are dealt to. Synchronous closed loops: one per request outstanding. Asynchronous ones: up to the limit, each
 * with its share. Schedules: the limit, each with its share of the arrivals.
 */
export function laneCountOf(plan: Plan, search: LevelSearch): number {
  const isSchedule = search.unit === "request-rate";
  if (isSchedule) return plan.client.maxLanes ?? DEFAULT_SCHEDULE_LANES;
  if (plan.client.callMode === "sync") return UNSHARED;
  return plan.client.maxLanes ?? Math.max(DEFAULT_ASYNC_LANES, largestLevel(search.levels) ?? DEFAULT_ASYNC_LANES);
}
