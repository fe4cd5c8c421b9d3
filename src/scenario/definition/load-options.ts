import type { Duration } from "../../plan/units.ts";
import type { ArrivalOptions } from "../rates.ts";

/** Options of the loads that are not made of other loads. */

/** How long each level is measured. Default: until it is stable. */
export type Extent =
  | { readonly for?: never; readonly requests?: never }
  | {
      /** Time to measure each level. Default: until it is stable. */
      readonly for: Duration;
      readonly requests?: never;
    }
  | {
      readonly for?: never;
      /** Number of requests to measure at each level. Default: until it is stable. */
      readonly requests: number;
    };

/** Options of {@link ramp}. */
export type RampOptions =
  | ({
      /** Difference between two levels. Default: 1. */
      readonly step?: number;
      readonly over?: never;
    } & Extent)
  | {
      /** Change the concurrency evenly over this time, in one measurement with a time line. Default: level by level. */
      readonly over: Duration;
      readonly step?: never;
      readonly for?: never;
      readonly requests?: never;
    };

/** Options of {@link hold}. */
export type HoldOptions = {
  /** Time in which the concurrency rises evenly from 1; it is measured too. Default: `"0 s"`. */
  readonly rampUp?: Duration;
} & Extent;

/** Options of {@link rate}. */
export type RateOptions = {
  /** Time in which the rate rises evenly from 0; it is measured too. Default: `"0 s"`. */
  readonly rampUp?: Duration;
} & ArrivalOptions &
  Extent;

/** Options of {@link rateRamp}: one measurement of the length `over` with a time line. */
export type RateRampOptions = {
  /** Time in which the rate changes. */
  readonly over: Duration;
} & ArrivalOptions;

/** Options of {@link periodic}. */
export interface PeriodicOptions {
  /** Number of requests in each further group. Default: 1. */
  readonly step?: number;
  /** Responses to each request of a group before the next group is sent. Default: 10. */
  readonly responses?: number;
}
