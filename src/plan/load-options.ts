import type { Builders, PlanOf } from "./schema.ts";

/** A request rate that changes linearly from another rate to the level's, then stays constant. */
export type RateRampPlan = PlanOf<typeof rateRampSchema>;

/** Schema of a rate's ramp. */
export function rateRampSchema(v: Builders) {
  return v.object({
    /** In requests per second. */
    fromPerSec: v.pipe(v.number(), v.minValue(0, "must be 0 or more")),
    overMs: v.pipe(v.number(), v.gtValue(0, "must be above 0")),
  });
}

/** A part of a schedule. Bounds are timestamps of the data in milliseconds. */
export type SchedulePartPlan = PlanOf<typeof schedulePartSchema>;

/** Schema of a schedule's part. */
export function schedulePartSchema(v: Builders) {
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
