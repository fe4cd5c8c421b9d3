import * as v from "valibot";
import type { LoadPlan } from "./load-plan.ts";
import type { MeasurementModePlan } from "./plan.ts";
import type { PlanOf } from "./schema.ts";

/** A request rate that changes linearly from another rate to the level's, then stays constant. */
export type RateRampPlan = PlanOf<typeof rateRampSchema>;

/** Schema of a rate's ramp. */
export function rateRampSchema() {
  return v.object({
    /** In requests per second. */
    fromPerSec: v.pipe(v.number(), v.minValue(0, "must be 0 or more")),
    overMs: v.pipe(v.number(), v.gtValue(0, "must be above 0")),
  });
}

/** A part of a schedule. Bounds are timestamps of the data in milliseconds. */
export type SchedulePartPlan = PlanOf<typeof schedulePartSchema>;

/** Schema of a schedule's part. */
export function schedulePartSchema() {
  const timeMs = v.nullable(v.pipe(v.number(), v.minValue(0, "must be 0 or more")));
  const part = v.object({
    /** Skip earlier entries, and begin the load at this time; null: 0. */
    startMs: timeMs,
    /** Skip later entries; null: none. */
    endMs: timeMs,
    /** Begin the load with the first entry, whatever its timestamp. */
    startsAtFirst: v.boolean(),
    /** 2 sends everything in half the time. */
    speedRatio: v.pipe(v.number(), v.gtValue(0, "must be above 0")),
  });
  return v.pipe(
    part,
    v.check(({ startMs, endMs }) => (endMs ?? Infinity) >= (startMs ?? 0), "must not end before it starts"),
  );
}

/** A phase of a load: one load after the other, without a pause. */
export interface PhasePlan {
  /** Name in reports. Absent: the description of the load. */
  readonly name?: string;
  /** Any load without phases of its own. */
  readonly load: LoadPlan;
  /** How long to measure each of its levels. Absent: the mode of the plan's measurement. */
  readonly mode?: MeasurementModePlan;
  /** Not measured. Absent: measured. */
  readonly isWarmup?: true;
  /** Checks whether latency or throughput changed from the first third of the phase to the last. Absent: no check. */
  readonly drift?: DriftPlan;
  /** Checks how soon latency is back after the phase before. Absent: no check. */
  readonly recovery?: RecoveryPlan;
}

/** The check of a phase's drift. */
export interface DriftPlan {
  /** Largest accepted change for the worse, as a ratio of the first third: 0.1 is 10 %. */
  readonly maxRatio: number;
}

/** The check of the recovery from a phase. */
export interface RecoveryPlan {
  /** Index of the phase whose median latency counts as normal. */
  readonly baseIndex: number;
  /** Largest difference from it that counts as recovered, as a ratio: 0.2 is 20 %. */
  readonly withinRatio: number;
  /** Longest accepted time to recover, in milliseconds. Absent: the whole phase. */
  readonly limitMs?: number;
}
