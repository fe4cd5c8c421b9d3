import * as v from "valibot";
import { canJoin, LIMIT_NAMES } from "../measure/good-requests.ts";
import { findEntry, keysWith } from "../measure/metrics/catalogue.ts";
import type { Metric } from "../measure/metrics/metric.ts";
import {
  type AssertionPlan,
  COMPARISONS,
  type MetricPlan,
  type PrecisionPlan,
  type Statistic,
} from "../plan/assertions.ts";
import { defined } from "../plan/defined.ts";
import { lazySchema, type Schema } from "../plan/schema.ts";
import type { GoodputPlan } from "../plan/tokens.ts";
import { type Duration, parseDurationNs, parsePercent } from "../plan/units.ts";
import { metricSchemaOf } from "../registry/metric-schema.ts";
import type { AnyAssertion, AnyPrecision, AssertedMetric, Assertion, GoodputLimits } from "./assertion.ts";
import { durationSchema, percentSchema, shareSchema, spanSchema, strictOptions, toMs, toRatio } from "./fields.ts";
import { givenTagsSchema, toTexts } from "./tags.ts";

/** Checks assertions of untyped callers, and converts assertions to those of plans. */

/** The message for a value that is not an assertion. */
export const ASSERTION_RULE = "must be an assertion such as ";
/** The message for a name that no metric has. */
export const METRIC_RULE = "there is no metric of this name";

const SIDES = COMPARISONS.filter((comparison) => comparison !== "is");

/** Returns the schema of an assertion. */
export function assertionSchema(): Schema<AnyAssertion> {
  return schemaByMetric<AnyAssertion>(`${ASSERTION_RULE}p99().below("25 ms")`, (metric, entry) => {
    const { quantity } = entry;
    const comparisons = quantity === "ratio" || quantity === "number" ? COMPARISONS : SIDES;
    return v.object({
      metric,
      comparison: v.picklist(comparisons, `must be one of ${comparisons.join(", ")}`),
      limit: limitSchema(entry),
      abortAfter: v.optional(spanSchema()),
      where: v.optional(givenTagsSchema()),
    });
  });
}

/** Returns the schema of a precision. */
export function precisionSchema(): Schema<AnyPrecision> {
  const rule = 'must be a precision, not a limit: write p99("latency").within("5 %")';
  const precision = schemaByMetric<AnyPrecision>(rule, (metric) =>
    v.object({ metric, within: percentSchema(), where: v.optional(givenTagsSchema()) }),
  );
  const isLimit = (input: unknown): boolean => typeof input === "object" && input !== null && "comparison" in input;
  return lazySchema<AnyPrecision>((input) => (isLimit(input) ? v.never(rule) : precision));
}

/**
 * Returns the schema of a value with a metric.
 * @param otherwise the message for anything else
 * @param build makes the schema from that of the metric and its entry
 */
function schemaByMetric<T>(
  otherwise: string,
  build: (metric: v.GenericSchema, entry: Metric) => v.GenericSchema,
): Schema<T> {
  return lazySchema<T>((input) => {
    const { metric } = (input ?? {}) as { readonly metric?: unknown };
    const { key, statistic } = (metric ?? {}) as { readonly key?: unknown; readonly statistic?: unknown };
    if (typeof key !== "string") return v.never(otherwise);
    const entry = findEntry(key);
    if (entry === undefined || entry.isOfReports === true) {
      const names = keysWith(statistic as Statistic | undefined);
      return v.looseObject({ metric: v.looseObject({ key: v.picklist(names, METRIC_RULE) }) });
    }
    const missing = explainStatistic(key, entry, statistic as Statistic | undefined);
    if (missing !== undefined) return v.never(missing);
    return build(metricSchemaOf(key, entry, goodputLimitsSchema()), entry);
  });
}

/** Explains that a metric needs a statistic, or has none; undefined when it has the given one, and for one that no metric has. */
function explainStatistic(key: string, { statistics }: Metric, given: Statistic | undefined): string | undefined {
  if (statistics === undefined && given !== undefined) return `${key} is one value: write metric("${key}")`;
  if (statistics === undefined || given !== undefined) return undefined;
  return `${key} has statistics: write ${statistics.includes("percentiles") ? "p99" : statistics[0]}("${key}")`;
}

/** The limit of a metric by what it counts. Only numbers that a scenario defines may be negative. */
function limitSchema({ quantity, isCustom }: Metric): v.GenericSchema {
  if (quantity === "time") return durationSchema();
  if (quantity === "ratio") return shareSchema();
  const number = v.number("must be a number");
  return quantity === "number" && isCustom === true ? number : v.pipe(number, v.minValue(0, "must be 0 or more"));
}

function goodputLimitsSchema(): Schema<GoodputLimits> {
  const rate = v.pipe(v.number("must be a number"), v.gtValue(0, "must be above 0"));
  const limits = LIMIT_NAMES.map(
    (name) => [name, v.optional(findEntry(name)?.quantity === "time" ? durationSchema() : rate)] as const,
  );
  return v.pipe(
    strictOptions(Object.fromEntries(limits)),
    v.check((limits) => Object.keys(limits).length > 0, "must have a limit"),
    v.check(
      (limits) => canJoin(limits),
      "cannot limit scheduledLatency or firstResponse together with metrics of tokens",
    ),
  ) as Schema<GoodputLimits>;
}

/** Converts a precision to that of a plan. */
export function toPrecisionPlan({ metric, within, where }: AnyPrecision): PrecisionPlan {
  const tags = where === undefined ? {} : { where: toTexts(where) };
  return { metric: toMetricPlan(metric), ratio: toRatio(within), ...tags };
}

/** Converts an assertion to that of a plan: its limit in the base unit. */
export function toAssertionPlan({ metric, comparison, limit, where, abortAfter }: AnyAssertion): AssertionPlan {
  return {
    metric: toMetricPlan(metric),
    comparison,
    limit: toLimit(limit),
    ...(typeof abortAfter === "string" ? { abortAfterMs: toMs(abortAfter) } : {}),
    ...(where === undefined ? {} : { where: toTexts(where) }),
  };
}

function toLimit(limit: Assertion["limit"]): number {
  if (typeof limit === "number") return limit;
  const pct = parsePercent(limit);
  return pct === undefined ? (parseDurationNs(limit as Duration) as number) : pct / 100;
}

/** Converts a metric to that of a plan: limits in nanoseconds. */
function toMetricPlan({ key, statistic, name, text, limits }: AssertedMetric): MetricPlan {
  const inNs = Object.entries(limits ?? {}).map(([of, limit]) => [of, toLimit(limit as Duration | number)]);
  return {
    key,
    ...defined({ statistic, name, text }),
    ...(limits === undefined ? {} : { limits: Object.fromEntries(inNs) as GoodputPlan }),
  };
}
