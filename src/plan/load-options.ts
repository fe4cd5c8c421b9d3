/** Parts of loads that most runs do without. */

/** A request rate that changes evenly from another one to the level's, and stays there. */
export interface RateRampPlan {
  /** In requests per second, 0 or more. */
  readonly fromPerSec: number;
  /** Above 0. */
  readonly overMs: number;
}

/** Which entries of a schedule are sent, and when. Bounds are times of the data in milliseconds. */
export interface SchedulePartPlan {
  /** Entries before it are left out, and the load begins at it; null: from 0 on. */
  readonly startMs: number | null;
  /** Entries after it are left out; null: up to the last one. */
  readonly endMs: number | null;
  /** The load begins with the first entry that is sent, whenever that was. */
  readonly startsAtFirst: boolean;
  /** Above 0; 2 sends in half the time. */
  readonly speedRatio: number;
}
