import { largestLevel } from "../load/levels.ts";
import type { LevelSearch } from "../load/load-mode.ts";
import type { Plan } from "../plan/plan.ts";
import { RunError } from "../plan/problem.ts";
import { openFileLimit } from "../runtime/files.ts";
import { connectionsOf } from "../transport/grpc/lanes.ts";

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

/** Below this nobody's limit is reached, and it is not asked for. */
const FEW_CONNECTIONS = 64;
/** Files a process has open besides its connections. */
const OTHER_FILES = 32;

/** Throws `RunError` when the load needs more connections than the system lets this process open: they would wait for ever. */
export function checkOpenFiles(plan: Plan, search: LevelSearch): void {
  const most = search.unit === "concurrency" ? (largestLevel(search.levels) ?? 0) : laneCountOf(plan, search);
  const connections = plan.target.protocol === "http" ? most : connectionsOf(most, laneCountOf(plan, search));
  if (connections < FEW_CONNECTIONS) return;
  // The embedded target's ends of the connections are this process's too.
  const files = connections * (plan.target.kind === "embedded" ? 2 : 1) + OTHER_FILES;
  const limit = openFileLimit();
  if (limit === undefined || files <= limit) return;
  throw new RunError(
    "unsupported",
    `${connections} connections are needed, and this process may open only ${limit} files`,
    `Raise the limit (ulimit -n ${files}), or lower the load.`,
  );
}
