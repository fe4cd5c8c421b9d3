import * as v from "valibot";
import type { NamedKey, StatisticOf } from "../../measure/metrics/catalogue.ts";
import { customFactsEntries, type DerivedPlan } from "../../plan/assertions.ts";
import { type PlannedFunction, toFunctionPlan } from "../../plan/functions.ts";
import { filledSchema, type OutputOf, recordSchema } from "../../plan/schema.ts";
import type { MetricName } from "../assertion.ts";
import { strictOptions } from "../fields.ts";

/** Metrics that a scenario computes from other metrics of a level. */

/** Percentiles by name. Other percentiles have no name. */
type PercentileName = "p1" | "p5" | "p10" | "p25" | "p50" | "p75" | "p90" | "p95" | "p99" | "p99.9";

type StatisticNames<S> = S extends "percentiles" ? PercentileName : S & string;

/** A metric at a level: a number, or its statistics if it has several. */
type LevelValue<K extends NamedKey> = [StatisticOf<K>] extends [never]
  ? number
  : { readonly [S in StatisticNames<StatisticOf<K>>]: number };

/**
 * The metrics of a level by their keys, in SI units: times in seconds, rates per second, ratios from 0 to 1, powers in watts, energies in
 * joules; memory is in MB. A metric with several statistics has them by name: `latency.p99`, `gpuPower.mean`, which is the mean over all
 * GPUs, not their sum. `extracted` has the values that the target extracts: `extracted.tokens.mean`. A metric without a value at a level
 * ends the computation, and the report gives the reason.
 */
export type LevelValues<M extends MetricName = MetricName, E extends string = string> = {
  readonly [K in M & NamedKey]: LevelValue<K>;
} & {
  readonly extracted: { readonly [K in E]: { readonly [S in "mean" | "min" | "max" | PercentileName]: number } };
};

/** A metric that is computed from other metrics, at each level. */
export interface DerivedMetric<M extends MetricName = MetricName, E extends string = string> {
  /**
   * Computes the value: a function of the metrics of a level, or a JMESPath expression over them, such as `"throughput / gpuPower.mean"`.
   * Called once before the run with an example, to check the names that it reads; when a level ends; and again for parts of its requests.
   * If it then throws or does not return a number, the run ends with an error.
   */
  readonly value: string | ((level: LevelValues<M, E>) => number);
  /** Unit of the value, such as `"tokens/J"`. Default: none. */
  readonly unit?: string;
  /** Which values are better, for comparisons of runs. Default: neither; a difference is then reported without a verdict. */
  readonly better?: "lower" | "higher";
}

/** The names of the values that a target extracts. `X` are its references for assertions. */
export type ExtractedOf<X extends string> = string extends X ? string : X extends `extracted: ${infer E}` ? E : never;

const NAME = /^[A-Za-z]\w*$/;

/** Returns the schema of derived metrics by name. */
export function deriveSchema() {
  const expression = filledSchema("must be a JMESPath expression, or a function");
  const fn = v.custom<PlannedFunction>((input) => typeof input === "function");
  const value = v.union([expression, fn], "must be a JMESPath expression, or a function of the metrics of a level");
  const name = v.pipe(v.string(), v.regex(NAME, "must be a name of letters, digits and underscores"));
  return recordSchema(name, strictOptions({ value, ...customFactsEntries() }), "must be metrics by name");
}

/** Converts derived metrics to their form in a plan. */
export function toDerivedPlans(given: OutputOf<typeof deriveSchema>): DerivedPlan[] {
  return Object.entries(given).map(([name, { value, ...facts }]) => ({
    name,
    value: typeof value === "string" ? value : toFunctionPlan(`derive.${name}.value`, value),
    ...facts,
  }));
}
