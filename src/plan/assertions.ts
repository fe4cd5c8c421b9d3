import * as v from "valibot";
import type { PlanOf, Schema } from "./schema.ts";
import type { GoodputPlan } from "./tokens.ts";

/** A statistic of a distribution. A number is a percentile, from 1 to below 100. */
export type Statistic = "average" | "min" | "max" | number;

/** A metric of the catalogue (`measure/metrics/catalogue.ts`), whose entries make its schema. */
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

/** How a metric is compared with its limit. */
export const COMPARISONS = ["below", "at-most", "above", "at-least", "is"] as const;

export type Comparison = (typeof COMPARISONS)[number];

/** An assertion, checked at every level. */
export type AssertionPlan = PlanOf<typeof assertionSchema>;

/** Returns the schema of an assertion. @param metric the schema of its metric */
export function assertionSchema(metric: Schema<MetricPlan>) {
  return v.object({
    metric,
    comparison: v.picklist(COMPARISONS),
    /** In the catalogue's base unit: nanoseconds, per second, a ratio from 0 to 1. 0 or more, except for extracted numbers. */
    limit: v.number(),
    /** The run ends early when the assertion does not hold over this measured time. Absent: it is judged at the end. */
    abortAfterMs: v.exactOptional(v.pipe(v.number(), v.gtValue(0, "must be above 0"))),
    ...whereEntry(),
  });
}

/** A precision: the 95 % confidence interval over runs reaches at most this ratio of the mean to each side, at every level. */
export type PrecisionPlan = PlanOf<typeof precisionSchema>;

/** Returns the schema of a precision. @param metric the schema of its metric */
export function precisionSchema(metric: Schema<MetricPlan>) {
  return v.object({
    metric,
    /** 0.05 for 5 %. */
    ratio: v.pipe(v.number(), v.gtValue(0, "must be above 0")),
    ...whereEntry(),
  });
}

function whereEntry() {
  /** Looks only at the requests with these tags. Absent: all requests. */
  return { where: v.optional(v.record(v.string(), v.string())) };
}
