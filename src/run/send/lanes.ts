import { LEVEL_UNITS } from "../../load/level-units.ts";
import { largestLevel } from "../../load/levels.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { membersOf } from "../../registry/mix.ts";
import { urlsOf } from "../../registry/service-kinds.ts";
import { openFileLimit } from "../../runtime/files.ts";
import type { Service } from "../../service/service.ts";
import { connectionsOf } from "../../transport/grpc/lanes.ts";

/** perf_analyzer's default number of worker threads for asynchronous concurrency, and for schedules. */
const DEFAULT_ASYNC_LANES = 16;
const DEFAULT_SCHEDULE_LANES = 4;
/** More lanes than slots, so that every slot is a lane of its own. */
const UNSHARED = 2 ** 30;

/** The model properties that decide how requests are sent. */
type LaneModel = Pick<Service, "isSequence" | "isDecoupled">;

/** A model before its properties are known. */
export const UNKNOWN_MODEL: LaneModel = { isSequence: false, isDecoupled: false };

/** Whether a lane waits for its response before the next send. */
export function callModeOf({ client, target }: Plan, { isSequence, isDecoupled }: LaneModel): "sync" | "async" {
  if (client.callMode !== "auto") return client.callMode;
  return target.isStreaming || isSequence || isDecoupled ? "async" : "sync";
}

/**
 * Returns how slots are assigned to lanes. Synchronous closed loops have one lane per outstanding request; asynchronous ones have lanes up
 * to the limit; schedules have as many lanes as the limit, which share the arrivals and sequences.
 */
export function laneOptionsOf(plan: Plan, search: LevelSearch, model: LaneModel): LaneOptions {
  const { concurrent, isSerial } = plan.sequences;
  const isSync = callModeOf(plan, model) === "sync";
  return {
    laneCount: laneCountOf(plan, search, model, isSync),
    isSync,
    keepsOrder: plan.target.isStreaming,
    sequenceCount: concurrent,
    isSerial,
    ...(plan.seed === undefined ? {} : { seed: plan.seed }),
  };
}

function laneCountOf(
  { client, load, sequences }: Plan,
  search: LevelSearch,
  model: LaneModel,
  isSync: boolean,
): number {
  if (LEVEL_UNITS[search.unit].isScheduled) {
    const lanes = client.maxLanes ?? Math.max(DEFAULT_SCHEDULE_LANES, search.maxConcurrency ?? 0);
    return model.isSequence ? Math.min(lanes, sequences.concurrent) : lanes;
  }
  if (isSync || loadModeOf(load).hasOwnLanes === true) return UNSHARED;
  return client.maxLanes ?? Math.max(DEFAULT_ASYNC_LANES, largestLevel(search.levels) ?? DEFAULT_ASYNC_LANES);
}

/** Outstanding requests of a load without its own limit. */
const MANY_OUTSTANDING = 256;

/** Returns the maximum number of outstanding requests of a plan. */
export function slotCountOf(plan: Plan, search: LevelSearch, model: LaneModel): number {
  if (!LEVEL_UNITS[search.unit].isScheduled) return largestLevel(search.levels) ?? MANY_OUTSTANDING;
  const { isSync, laneCount } = laneOptionsOf(plan, search, model);
  return isSync ? laneCount : Math.max(MANY_OUTSTANDING, search.maxConcurrency ?? 0);
}

/** Below this number, the limit is not checked. */
const FEW_CONNECTIONS = 64;
/** Open files of a process that are no connections. */
const OTHER_FILES = 32;

/** @throws RunError when the load needs more connections than this process may open, which would wait forever */
export function checkOpenFiles(plan: Plan, search: LevelSearch): void {
  const { laneCount } = laneOptionsOf(plan, search, UNKNOWN_MODEL);
  const most = LEVEL_UNITS[search.unit].isScheduled ? laneCount : (largestLevel(search.levels) ?? 0);
  const members = membersOf(plan.target).map((member) => member.target);
  let connections = 0;
  let files = OTHER_FILES;
  for (const target of members.length > 0 ? members : [plan.target]) {
    const perServer = target.protocol === "http" ? most : connectionsOf(most, laneCount);
    const serverCount = urlsOf(target).length;
    connections += perServer * Math.max(1, serverCount);
    // When the run starts the target itself, this process also holds the target's end of each connection.
    files += perServer * (serverCount === 0 ? 2 : serverCount);
  }
  if (connections < FEW_CONNECTIONS) return;
  const limit = openFileLimit();
  if (limit === undefined || files <= limit) return;
  const message = `${connections} connections are needed, and this process may open only ${limit} files`;
  throw new RunError("unsupported", message, `Raise the limit (ulimit -n ${files}), or lower the load.`);
}

/** How slots are assigned to lanes. */
export interface LaneOptions {
  /** Slot `s` belongs to lane `s % laneCount`. */
  readonly laneCount: number;
  /** A lane waits for its response before the next send; otherwise it may have several outstanding requests. */
  readonly isSync: boolean;
  /** Whether a lane's requests reach the server in the order of sending, as on a stream. */
  readonly keepsOrder: boolean;
  /** Number of concurrent sequences of a schedule. */
  readonly sequenceCount: number;
  /** Whether a sequence waits for its response before its next request. */
  readonly isSerial: boolean;
  /** Seed of the run. Default: 0. */
  readonly seed?: number;
}
