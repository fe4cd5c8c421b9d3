import { LEVEL_UNITS } from "../load/level-units.ts";
import { largestLevel } from "../load/levels.ts";
import type { LevelSearch } from "../load/load-mode.ts";
import { countOf, type Share, WHOLE } from "../load/share.ts";
import { defined } from "../plan/objects.ts";
import type { Plan } from "../plan/plan.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import type { Service } from "../service/service.ts";

/** perf_analyzer's default number of worker threads for asynchronous concurrency, and for schedules. */
export const DEFAULT_ASYNC_LANES = 16;
export const DEFAULT_SCHEDULE_LANES = 4;
/**
 * Maximum number of lanes of a schedule: the number of requests that can be in flight from one address to one server, whose ports are 16
 * bits.
 */
const MOST_SCHEDULE_LANES = 65_536;
/** Maximum number of connections that are opened for lanes of a schedule before they send. */
export const OPENED_AHEAD = 4096;
/** More lanes than slots, so that every slot is a separate lane. */
const UNSHARED = 2 ** 30;

/** Properties of a model that affect how requests are sent. */
type LaneModel = Pick<Service, "isSequence" | "isDecoupled">;

/** Placeholder for a model before its properties are known. */
export const UNKNOWN_MODEL: LaneModel = { isSequence: false, isDecoupled: false };

/** Whether a lane waits for its response before the next send. */
export function callModeOf({ client, target }: Plan, { isSequence, isDecoupled }: LaneModel): "sync" | "async" {
  if (client.callMode !== "auto") return client.callMode;
  return target.isStreaming || isSequence || isDecoupled ? "async" : "sync";
}

/**
 * Returns the assignment of slots to lanes. Synchronous closed loops have one lane per outstanding request. Asynchronous loops have lanes
 * up to the limit. Schedules have as many lanes as the limit, which share the arrivals and sequences.
 * @param senders index of the sender and number of senders. Default: one sender
 */
export function laneOptionsOf(plan: Plan, search: LevelSearch, model: LaneModel, senders = WHOLE): LaneOptions {
  const { concurrent, isSerial } = plan.sequences;
  const isSync = callModeOf(plan, model) === "sync";
  const laneCount = laneCountOf(plan, search, model, isSync);
  // A lane without a sequence would wait forever; without sequences, each sender has the same number of lanes.
  const hasPool = model.isSequence && LEVEL_UNITS[search.unit].isScheduled;
  return {
    laneCount: hasPool ? Math.max(1, countOf(laneCount, senders)) : Math.ceil(laneCount / senders.count),
    senders,
    isSync,
    keepsOrder: plan.target.isStreaming,
    sequenceCount: concurrent,
    isSerial,
    ...defined({ seed: plan.seed }),
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
    return Math.min(lanes, model.isSequence ? sequences.concurrent : MOST_SCHEDULE_LANES);
  }
  if (isSync || loadModeOf(load).hasOwnLanes === true) return UNSHARED;
  return client.maxLanes ?? Math.max(DEFAULT_ASYNC_LANES, largestLevel(search.levels) ?? DEFAULT_ASYNC_LANES);
}

/** Maximum number of outstanding requests of a load without a limit. */
const MANY_OUTSTANDING = 256;

/** Returns the maximum number of outstanding requests of a plan. */
export function slotCountOf(plan: Plan, search: LevelSearch, model: LaneModel): number {
  if (!LEVEL_UNITS[search.unit].isScheduled) return largestLevel(search.levels) ?? MANY_OUTSTANDING;
  const { isSync, laneCount } = laneOptionsOf(plan, search, model);
  return isSync ? laneCount : Math.max(MANY_OUTSTANDING, search.maxConcurrency ?? 0);
}

/** Assignment of slots to lanes. */
export interface LaneOptions {
  /** Slot `s` belongs to lane `s % laneCount`. */
  readonly laneCount: number;
  /** Whether a lane waits for its response before the next send. Otherwise it may have several outstanding requests. */
  readonly isSync: boolean;
  /** Whether a lane's requests reach the server in sending order, as on a stream. */
  readonly keepsOrder: boolean;
  /** Number of concurrent sequences of a schedule, over all senders. */
  readonly sequenceCount: number;
  /** Index of the sender that has the lanes and its share of the sequences, and the number of senders. Default: one sender. */
  readonly senders?: Share;
  /** Whether a sequence waits for its response before its next request. */
  readonly isSerial: boolean;
  /** Seed of the run. Default: 0. */
  readonly seed?: number;
}
