/** A request rate that changes linearly from another rate to the level's, then stays constant. */
export interface RateRampPlan {
  /** In requests per second, 0 or more. */
  readonly fromPerSec: number;
  /** Above 0. */
  readonly overMs: number;
}

/** A part of a schedule. Bounds are timestamps of the data in milliseconds. */
export interface SchedulePartPlan {
  /** Skip earlier entries, and begin the load at this time; null: 0. */
  readonly startMs: number | null;
  /** Skip later entries; null: none. */
  readonly endMs: number | null;
  /** Begin the load with the first entry, whatever its timestamp. */
  readonly startsAtFirst: boolean;
  /** Above 0; 2 sends everything in half the time. */
  readonly speedRatio: number;
}
