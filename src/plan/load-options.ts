import * as v from "valibot";
import type { LoadPlan } from "./load-plan.ts";
import { measurementModeSchema } from "./plan.ts";
import {
  aboveZeroSchema,
  atLeast,
  filledSchema,
  integerSchema,
  type PlanOf,
  type Schema,
  wholeSchema,
} from "./schema.ts";

/** A request rate that changes linearly from another rate to the level's rate, then stays constant. */
export type RateRampPlan = PlanOf<typeof rateRampSchema>;

export function rateRampSchema() {
  return v.object({
    /** In requests per second. */
    fromPerSec: v.pipe(v.number(), atLeast(0)),
    overMs: aboveZeroSchema(),
  });
}

/** Time between a response and the user's next request. */
export type ThinkTimePlan = PlanOf<typeof thinkTimeSchema>;

export function thinkTimeSchema() {
  return v.object({
    meanMs: aboveZeroSchema(),
    /** Standard deviation of a normal distribution, whose values below 0 count as 0. Absent: the time is constant. */
    stddevMs: v.exactOptional(v.pipe(v.number(), atLeast(0))),
  });
}

/** Returns the schema entries of a load of users who may think between their requests. */
export function thinkingEntries() {
  return {
    /** Absent: the next request is sent immediately after the response. */
    thinkTime: v.exactOptional(thinkTimeSchema()),
    /** Seed of think times. Default: 0 */
    seed: v.exactOptional(integerSchema()),
  };
}

/** A part of a schedule. Bounds are timestamps of the data in milliseconds. */
export type SchedulePartPlan = PlanOf<typeof schedulePartSchema>;

export function schedulePartSchema() {
  const timeMs = v.nullable(v.pipe(v.number(), atLeast(0)));
  const part = v.object({
    /** Skips earlier entries, and starts the load at this time; null: 0. */
    startMs: timeMs,
    /** Skips later entries; null: none. */
    endMs: timeMs,
    /** Starts the load with the first entry, whatever its timestamp. */
    startsAtFirst: v.boolean(),
    /** Speed factor: 2 sends everything in half the time. */
    speedRatio: aboveZeroSchema(),
  });
  return v.pipe(
    part,
    v.check(({ startMs, endMs }) => (endMs ?? Infinity) >= (startMs ?? 0), "must not end before it starts"),
  );
}

/** A phase of a load: one load follows another without a pause. */
export type PhasePlan = PlanOf<typeof phaseSchema>;

export type RecoveryPlan = NonNullable<PhasePlan["recovery"]>;

export function phaseSchema(load: Schema<LoadPlan>) {
  const positive = aboveZeroSchema();
  return v.object({
    /** Name in reports. Default: the description of the load */
    name: v.exactOptional(filledSchema()),
    load,
    /** Measurement mode of each level. Default: the mode of the plan's measurement */
    mode: v.exactOptional(measurementModeSchema()),
    /** Set if the phase is not measured. */
    isWarmup: v.exactOptional(v.literal(true)),
    /** Checks whether latency or throughput changed from the first third of the phase to the last. Absent: no check. */
    drift: v.exactOptional(
      v.object({
        /** Largest accepted deterioration, as a ratio of the first third: 0.1 is 10 %. */
        maxRatio: positive,
      }),
    ),
    /** Checks how soon the latency recovers from the previous phase. Absent: no check. */
    recovery: v.exactOptional(
      v.object({
        /** Index of the phase whose median latency counts as normal. */
        baseIndex: wholeSchema(0),
        /** Largest difference from it that counts as recovered, as a ratio: 0.2 is 20 %. */
        withinRatio: positive,
        /** Longest accepted time to recover. Default: the whole phase */
        limitMs: v.exactOptional(positive),
      }),
    ),
  });
}
