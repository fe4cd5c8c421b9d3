import * as v from "valibot";
import { functionSchema } from "./functions.ts";
import { aboveZeroSchema, type EntriesOf, filledSchema, type PlanOf, type Schema } from "./schema.ts";
import type { GoodputPlan } from "./tokens.ts";

/** A statistic of a distribution. A number is a percentile, from 1 to below 100. */
export type Statistic = "mean" | "min" | "max" | number;

/** Direction in which values of a metric are better. */
export type Direction = "lower" | "higher";

/** Properties that a scenario gives its custom values. */
export type CustomFacts = Readonly<EntriesOf<typeof customFactsEntries>>;

/** Returns the schemas of the properties of custom values, as an object's entries. */
export function customFactsEntries() {
  return {
    /** Unit of the values. Default: none */
    unit: v.exactOptional(v.pipe(v.string("must be text"), v.trim(), v.nonEmpty("must be a unit such as points"))),
    /** Absent: neither direction is better. */
    better: v.exactOptional(v.picklist(["lower", "higher"], 'must be "lower" or "higher"')),
  };
}

/** Computation of a metric from other metrics of a level: a JMESPath expression, or a function of the scenario. */
export type DerivedValue = PlanOf<typeof derivedValueSchema>;

export function expressionSchema() {
  return filledSchema("must be a JMESPath expression");
}

/** Returns the schema of a metric's computation. */
export function derivedValueSchema() {
  return v.union([expressionSchema(), functionSchema()]);
}

/** A metric that a scenario computes from others. */
export type DerivedPlan = PlanOf<typeof derivedSchema>;

/** Returns the schema of a metric that a scenario computes from others. */
export function derivedSchema() {
  return v.object({
    name: filledSchema("must be a name"),
    value: derivedValueSchema(),
    ...customFactsEntries(),
  });
}

/** A metric of the catalogue (`measure/metrics/catalogue.ts`). The catalogue's entries determine its schema. */
export interface MetricPlan {
  /** Key of the metric: `latency`, `throughput`, `extracted`. */
  readonly key: string;
  /** Absent: the metric has a single value. */
  readonly statistic?: Statistic | undefined;
  /** Only for metrics that a scenario defines: their name in the scenario, for example in `extract` of the target. */
  readonly name?: string | undefined;
  /** Only for `extractedShare`: the text that is counted. */
  readonly text?: string | undefined;
  /** Only for metrics that a scenario defines: {@link CustomFacts}. */
  readonly unit?: string | undefined;
  readonly better?: Direction | undefined;
  /** Only for `derived`: the computation. */
  readonly value?: DerivedValue | undefined;
  /** Only for `goodput`: limits that a good request meets. */
  readonly limits?: GoodputPlan | undefined;
}

/** Comparisons of a metric with its limit. */
export const COMPARISONS = ["below", "at-most", "above", "at-least", "is"] as const;

export type Comparison = (typeof COMPARISONS)[number];

/** An assertion, checked at every level. */
export type AssertionPlan = PlanOf<typeof assertionSchema>;

export function assertionSchema(metric: Schema<MetricPlan>) {
  return v.object({
    metric,
    comparison: v.picklist(COMPARISONS),
    /**
     * In the catalogue's base unit: nanoseconds, per second, a ratio from 0 to 1. 0 or more, except for metrics that a scenario
     * defines.
     */
    limit: v.number(),
    /** The run ends early if the assertion does not hold over this measured time. Absent: it is judged at the end. */
    abortAfterMs: v.exactOptional(aboveZeroSchema()),
    ...whereEntry(),
  });
}

/** A precision: the 95 % confidence interval over runs reaches at most this ratio of the mean to each side, at every level. */
export type PrecisionPlan = PlanOf<typeof precisionSchema>;

export function precisionSchema(metric: Schema<MetricPlan>) {
  return v.object({
    metric,
    /** 0.05 for 5 %. */
    ratio: aboveZeroSchema(),
    ...whereEntry(),
  });
}

function whereEntry() {
  return {
    /** Considers only requests with these tags. Default: all requests */
    where: v.optional(v.record(v.string(), v.string())),
    /** Considers only the phases of the load with this name. Default: all measured phases */
    phase: v.exactOptional(v.string()),
  };
}
