import type { Tags } from "./split/tags.ts";
import type { GoodputPlan } from "./tokens.ts";

/** A statistic of a distribution. A number is a percentile, from 1 to below 100. */
export type Statistic = "average" | "min" | "max" | number;

/** A metric of the catalogue (`measure/metrics/catalogue.ts`). */
export interface MetricPlan {
  /** Its key: `latency`, `throughput`, `extracted`. */
  readonly key: string;
  /** Absent: the metric is one value. */
  readonly statistic?: Statistic | undefined;
  /** Only of `extracted`: the name by which the target extracts the numbers. */
  readonly name?: string | undefined;
  /** Only of `goodput`: limits that a good request meets. */
  readonly limits?: GoodputPlan | undefined;
}

/** An assertion, checked at every level. Limits are in the catalogue's base unit: nanoseconds, per second, a ratio from 0 to 1. */
export interface AssertionPlan {
  readonly metric: MetricPlan;
  readonly comparison: "below" | "at-most" | "above" | "at-least" | "is";
  /** 0 or more, except for extracted numbers. */
  readonly limit: number;
  /** The run ends early when the assertion does not hold over this measured time, in milliseconds. Absent: it is judged at the end. */
  readonly abortAfterMs?: number;
  /** Judges only the requests with these tags. Absent: all requests. */
  readonly where?: Tags | undefined;
}
