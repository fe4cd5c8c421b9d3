import { LEVEL_UNITS, type LevelUnitName } from "../../load/level-units.ts";
import { sentPerSec } from "../../measure/derived-values.ts";
import { checkLittlesLaw, LITTLES_LAW_TOLERANCE_RATIO, meanInFlight } from "../../measure/in-flight.ts";
import { describeRemedy, explainInstability } from "../../measure/instability.ts";
import { sendDelayOf } from "../../measure/measurement.ts";
import {
  type AskedRate,
  explainShortfall,
  isRateMissed,
  MISSED_RATIO,
  type RateShortfall,
  type ScheduledRate,
} from "../../measure/rate-shortfall.ts";
import { isUntilStable, type Plan } from "../../plan/plan.ts";
import { countOf, formatCount, nsToSec } from "../../plan/units.ts";
import { loadModeOf, planOfPhase } from "../../registry/load-modes.ts";
import type { LevelResult, PreparedRun } from "../../result/run-result.ts";

/** Code of the note on a load that the client could not send, which decides the verdict. */
export const UNSENT_LOAD = "load-not-sent";

/** The requested load of a level and the delivered load, as means over the measurement. */
interface LoadDelivery {
  readonly unit: LevelUnitName;
  /** Requests in flight, or requests per second; undefined if the load requests no such number. */
  readonly asked: number | undefined;
  /** Requests in flight, or requests sent per second; undefined if too few were due for a rate. */
  readonly delivered: number | undefined;
  /** Within 10 % for requests in flight; for rates, within 1 % and what random gaps explain. Undefined without `asked`. */
  readonly isDelivered: boolean | undefined;
}

/** A level, or a part of its requests. */
export type DeliveredLevel = Pick<LevelResult, "unit" | "level" | "window" | "phase">;

/** Compares the requested load with the delivered load. A phase's level is compared with the load of the phase. */
export function loadDelivery(plan: Plan, { unit, level, window, phase }: DeliveredLevel): LoadDelivery {
  const { load, measurement } = planOfPhase(plan, phase?.index);
  const mode = loadModeOf(load);
  const isScheduled = LEVEL_UNITS[unit].isScheduled;
  const delivered = isScheduled ? sentPerSec(window) : meanInFlight(window);
  // Later windows do not begin with the level, so it is unknown how much of a ramp they contain.
  const isPartOfRamp = mode.ramp?.(load) !== undefined && isUntilStable(measurement.mode);
  if (isPartOfRamp || window.durationNs <= 0) return { unit, asked: undefined, delivered, isDelivered: undefined };
  const asked =
    mode.askedMean === undefined
      ? level
      : mode.askedMean(load, level, isScheduled ? window.sendingNs : window.durationNs);
  if (asked === undefined || delivered === undefined) return { unit, asked, delivered, isDelivered: undefined };
  const rate = { perSec: asked, gapDeviationRatio: mode.arrivals?.(load).gapDeviationRatio ?? 0 };
  // Files with uneven gaps have more requests in some times than in others, so the check is whether a request was late by a gap.
  const isUneven = mode.arrivals === undefined && asked * nsToSec(sendDelayOf(window).max) < 1;
  const isDelivered = isScheduled
    ? isUneven || !isRateMissed(delivered, rate, window.sendingNs, MISSED_RATIO)
    : delivered >= asked * (1 - LITTLES_LAW_TOLERANCE_RATIO);
  return { unit, asked, delivered, isDelivered };
}

/** Describes both loads, and Little's law if it holds; a sentence without a full stop. */
export function describeDelivery(plan: Plan, level: LevelResult): string {
  const { asked, delivered, isDelivered } = loadDelivery(plan, level);
  const { window } = level;
  const only = isDelivered === false ? "only " : "";
  const inFlight = `${formatCount(meanInFlight(window))} in flight on average`;
  const { expectedMean, isKept } = checkLittlesLaw(window);
  const law = isKept && window.requestCount > 0 ? `; throughput × mean latency is ${formatCount(expectedMean)}` : "";
  if (!LEVEL_UNITS[level.unit].isScheduled) {
    const askedFor = asked === undefined ? "" : `, ${formatCount(asked)} asked for`;
    return `${only}${inFlight}${askedFor}${law}`;
  }
  const sent =
    delivered === undefined
      ? countOf(window.sentCount, "request sent", "requests sent")
      : `${only}${formatCount(delivered)} requests/s sent`;
  return `${sent}${asked === undefined ? "" : `, ${formatCount(asked)} asked for`}; ${inFlight}${law}`;
}

/**
 * Reports that a constant load was not delivered; undefined if it was. A sentence without a full stop. Not for loads that rise,
 * because requests of the end are still in flight.
 */
export function describeUndelivered(plan: Plan, level: LevelResult): string | undefined {
  const { load } = planOfPhase(plan, level.phase?.index);
  if (loadModeOf(load).ramp?.(load) !== undefined) return undefined;
  return loadDelivery(plan, level).isDelivered === false ? describeDelivery(plan, level) : undefined;
}

/** Returns the schedule of a level's requests, to check whether it was met. */
function scheduledRate({ plan, service, callMode, laneCount }: PreparedRun, level: number): ScheduledRate {
  const { concurrent, isSerial } = plan.sequences;
  const isOneByOne = service.isSequence && (isSerial || !plan.target.isStreaming);
  return {
    asked: askedRate(plan, level),
    isSync: callMode === "sync",
    laneCount,
    sequenceCount: isOneByOne ? concurrent : undefined,
    maxOutstanding: loadModeOf(plan.load).maxOutstanding?.(plan.load),
  };
}

/** Returns the request rate of a level; undefined if it changes, if requests are due at given times, or without a schedule. */
function askedRate({ load }: Plan, level: number): AskedRate | undefined {
  const mode = loadModeOf(load);
  const arrivals = mode.arrivals?.(load);
  if (arrivals === undefined || mode.ramp?.(load) !== undefined) return undefined;
  return { perSec: level, gapDeviationRatio: arrivals.gapDeviationRatio };
}

/** Describes what varied in an unstable level, the likely cause, and what to change; undefined if it became stable. */
export function whyUnstable(plan: Plan, { instability, window, level }: LevelResult) {
  if (instability === undefined) return undefined;
  const { remedy, ...found } = explainInstability(instability, window, askedRate(plan, level));
  return { ...found, advice: describeRemedy(remedy, plan.measurement.mode) };
}

/** Reports that asynchronous requests are stable enough; a sentence without a full stop. */
export const ONLY_THROUGHPUT = "only throughput is stable, which is enough for asynchronous requests; latency is not";

/** Explains how a level missed its schedule; undefined if it met the schedule or has none. */
export function whyLate(prepared: PreparedRun, { unit, window, level }: LevelResult): RateShortfall | undefined {
  return LEVEL_UNITS[unit].isScheduled ? explainShortfall(window, scheduledRate(prepared, level)) : undefined;
}
