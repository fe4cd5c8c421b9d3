import { LEVEL_UNITS } from "../../load/level-units.ts";
import { largestLevel } from "../../load/levels.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { urlsOf } from "../../registry/service-kinds.ts";
import { openFileLimit } from "../../runtime/files.ts";
import type { Service } from "../../service/service.ts";
import { connectionsOf } from "../../transport/grpc/lanes.ts";

/** perf_analyzer's default number of worker threads for asynchronous concurrency, and for schedules. */
const DEFAULT_ASYNC_LANES = 16;
const DEFAULT_SCHEDULE_LANES = 4;
/** Every slot is a lane of its own. */
const UNSHARED = 2 ** 30;

/** What of the model decides how its requests are sent. */
type LaneModel = Pick<Service, "isSequence" | "isDecoupled">;

/** A model of which nothing is known yet. */
export const UNKNOWN_MODEL: LaneModel = { isSequence: false, isDecoupled: false };

/** Whether a lane waits for its answer before it sends again. */
export function callModeOf({ client, target }: Plan, { isSequence, isDecoupled }: LaneModel): "sync" | "async" {
  if (client.callMode !== "auto") return client.callMode;
  return target.isStreaming || isSequence || isDecoupled ? "async" : "sync";
}

/**
 * How the slots are dealt to lanes. Synchronous closed loops: one lane per request outstanding. Asynchronous ones: up to the limit, each
 * with its share. Schedules: the limit, each with its share of the arrivals and of the sequences.
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
  };
}

function laneCountOf(
  { client, load, sequences }: Plan,
  search: LevelSearch,
  model: LaneModel,
  isSync: boolean,
): number {
  if (LEVEL_UNITS[search.unit].isScheduled) {
    const lanes = client.maxLanes ?? DEFAULT_SCHEDULE_LANES;
    return model.isSequence ? Math.min(lanes, sequences.concurrent) : lanes;
  }
  if (isSync || loadModeOf(load).hasOwnLanes === true) return UNSHARED;
  return client.maxLanes ?? Math.max(DEFAULT_ASYNC_LANES, largestLevel(search.levels) ?? DEFAULT_ASYNC_LANES);
}

/** Requests outstanding under a load that sets no bound itself. */
const MANY_OUTSTANDING = 256;

/** How many requests a plan may have outstanding at once. */
export function slotCountOf(plan: Plan, search: LevelSearch, model: LaneModel): number {
  if (!LEVEL_UNITS[search.unit].isScheduled) return largestLevel(search.levels) ?? MANY_OUTSTANDING;
  const { isSync, laneCount } = laneOptionsOf(plan, search, model);
  return isSync ? laneCount : MANY_OUTSTANDING;
}

/** Below this nobody's limit is reached, and it is not asked for. */
const FEW_CONNECTIONS = 64;
/** Files a process has open besides its connections. */
const OTHER_FILES = 32;

/** Throws `RunError` when the load needs more connections than the system lets this process open: they would wait for ever. */
export function checkOpenFiles(plan: Plan, search: LevelSearch): void {
  const { laneCount } = laneOptionsOf(plan, search, UNKNOWN_MODEL);
  const most = LEVEL_UNITS[search.unit].isScheduled ? laneCount : (largestLevel(search.levels) ?? 0);
  const perServer = plan.target.protocol === "http" ? most : connectionsOf(most, laneCount);
  const serverCount = urlsOf(plan.target).length;
  const connections = perServer * Math.max(1, serverCount);
  if (connections < FEW_CONNECTIONS) return;
  // The ends of a target that the run starts of the connections are this process's too.
  const files = connections * (serverCount === 0 ? 2 : 1) + OTHER_FILES;
  const limit = openFileLimit();
  if (limit === undefined || files <= limit) return;
  throw new RunError(
    "unsupported",
    `${connections} connections are needed, and this process may open only ${limit} files`,
    `Raise the limit (ulimit -n ${files}), or lower the load.`,
  );
}

/** How slots are dealt to lanes. */
export interface LaneOptions {
  /** Slots are dealt to so many lanes: slot `s` is lane `s % laneCount`'s. */
  readonly laneCount: number;
  /** A lane waits for its answer before it sends again; otherwise it may have several requests outstanding. */
  readonly isSync: boolean;
  /** Requests of a lane reach the server in the order in which they were sent, as on a stream. */
  readonly keepsOrder: boolean;
  /** Sequences that a schedule has under way at once. */
  readonly sequenceCount: number;
  /** A sequence waits for its answer before it goes on. */
  readonly isSerial: boolean;
}
