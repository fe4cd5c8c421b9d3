import type { MetricPlan } from "./assertions.ts";

/** How often the whole run is repeated, with a warm-up of its own each time. */
export interface RepeatPlan {
  /** 2 or more. */
  readonly atLeast: number;
  /** `atLeast` or more. */
  readonly atMost: number;
  /** Precision that ends the repetition between the two. Absent: exactly `atLeast` runs, which equals `atMost`. */
  readonly until?: PrecisionPlan;
}

/** A precision: the 95 % confidence interval over runs reaches at most this ratio of the mean to each side, at every level. */
export interface PrecisionPlan {
  readonly metric: MetricPlan;
  /** 0.05 for 5 %. */
  readonly ratio: number;
}
