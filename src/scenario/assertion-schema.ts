import * as v from "valibot";
import type { GivenTags } from "../inputs/tagged-input.ts";
import { canJoin, LIMIT_NAMES } from "../measure/good-requests.ts";
import { findEntry, keysWith } from "../measure/metrics/catalogue.ts";
import type { Metric } from "../measure/metrics/metric.ts";
import { meantMetric } from "../measure/metrics/metric-names.ts";
import {
  type AssertionPlan,
  COMPARISONS,
  type MetricPlan,
  type PrecisionPlan,
  type Statistic,
} from "../plan/assertions.ts";
import { PHASE_TAG } from "../plan/groups/tags.ts";
import { nearestName } from "../plan/nearest-name.ts";
import { defined } from "../plan/objects.ts";
import { aboveZero, atLeast, lazySchema, numberSchema, type Schema, withHint } from "../plan/schema.ts";
import type { GoodputPlan } from "../plan/tokens.ts";
import { type Duration, parseDurationNs, parsePercent } from "../plan/units.ts";
import { metricSchemaOf } from "../registry/metric-schema.ts";
import type { AnyAssertion, AnyPrecision, AssertedMetric, Assertion, GoodputLimits } from "./assertion.ts";
import { durationSchema, percentSchema, shareSchema, spanSchema, strictOptions, toMs, toRatio } from "./fields.ts";
import { givenTagsSchema, toTexts } from "./tags.ts";

/** Checks assertions of untyped callers, and converts assertions to their form in a plan. */

const SIDES = COMPARISONS.filter((comparison) => comparison !== "is");

/** Returns the schema of an assertion. */
export function assertionSchema(): Schema<AnyAssertion> {
  const other = withHint(v.never('must be an assertion such as p99().below("25 ms")'), assertionHint);
  return schemaByMetric<AnyAssertion>(other, (metric, entry) => {
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
  const other = withHint(v.never("must be a precision, not a limit"), 'Write p99("latency").within("5 %").');
  const precision = schemaByMetric<AnyPrecision>(other, (metric) =>
    v.object({ metric, within: percentSchema(), where: v.optional(givenTagsSchema()) }),
  );
  return lazySchema<AnyPrecision>((input) => (isAssertion(input) ? other : precision));
}

/**
 * Returns the schema of a value with a metric.
 * @param otherwise schema that rejects anything else
 * @param build makes the schema from the schema and the entry of the metric
 */
function schemaByMetric<T>(
  otherwise: v.GenericSchema,
  build: (metric: v.GenericSchema, entry: Metric) => v.GenericSchema,
): Schema<T> {
  return lazySchema<T>((input) => {
    const { metric } = (input ?? {}) as { readonly metric?: unknown };
    const { key, statistic } = (metric ?? {}) as { readonly key?: unknown; readonly statistic?: unknown };
    if (typeof key !== "string") return otherwise;
    const entry = findEntry(key);
    if (entry === undefined || entry.isOfReports === true) {
      const names = keysWith(statistic as Statistic | undefined);
      const known = withHint(v.picklist(names, "there is no metric of this name"), (given) => metricHint(given, names));
      return v.looseObject({ metric: v.looseObject({ key: known }) });
    }
    const wrong = wrongStatistic(key, entry, statistic as Statistic | undefined);
    if (wrong !== undefined) return wrong;
    return build(metricSchemaOf(key, entry, goodputLimitsSchema()), entry);
  });
}

/**
 * Returns the schema that rejects a metric without a statistic that it needs, or with a statistic that it does not have. Undefined if the
 * metric has the given statistic, and for an unknown metric.
 */
function wrongStatistic(key: string, { statistics }: Metric, given: Statistic | undefined) {
  if (statistics === undefined && given !== undefined)
    return withHint(v.never(`${key} is one value`), `Write metric("${key}").`);
  if (statistics === undefined || given !== undefined) return undefined;
  const name = statistics.includes("percentiles") ? "p99" : statistics[0];
  return withHint(v.never(`${key} has statistics`), `Write ${name}("${key}").`);
}

/** Returns the metric that was probably meant, or all of them. @param known metrics with the statistic */
function metricHint(given: unknown, known: readonly string[]): string {
  const name = String(given);
  const meant = meantMetric(name);
  if (meant !== undefined) return known.includes(meant) ? `Write "${meant}".` : `Write ${meant}.`;
  const near = nearestName(name, known);
  return near === undefined ? `Use one of ${known.join(", ")}.` : `Did you mean "${near}"?`;
}

/** A limit as text, as in k6 and in YAML: `p(95)<500`. */
const LIMIT_TEXT = /^\s*p\(?(\d+(?:\.\d+)?)\)?\s*(?:\((\w+)\))?\s*<=?\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min)?\s*$/;

/** Reports whether a value is an assertion, valid or not. */
export function isAssertion(given: unknown): boolean {
  return typeof given === "object" && given !== null && Object.hasOwn(given, "comparison");
}

/** Returns a hint on how to write a value that is not an assertion. */
export function assertionHint(given: unknown): string {
  const [isLimit, percentile, of = "latency", limit, unit = "ms"] = LIMIT_TEXT.exec(String(given)) ?? [];
  const [, name = ""] = /^\s*([\w.]+)\s*[<>=]/.exec(String(given)) ?? [];
  const meant = meantMetric(name);
  if (isLimit === undefined && meant?.includes("(")) return `Write ${meant}.`;
  if (isLimit === undefined) return 'Write p99("latency").below("50 ms"), or another metric with its limit.';
  const call = ["50", "90", "95", "99"].includes(percentile ?? "")
    ? `p${percentile}("${of}")`
    : `percentile(${percentile}, "${of}")`;
  return `Write ${call}.below("${limit} ${unit}").`;
}

/**
 * Returns the schema of a metric's limit, by the quantity of the metric. Only numbers that a scenario defines may be
 * negative.
 */
function limitSchema({ quantity, definedIn }: Metric): v.GenericSchema {
  if (quantity === "time") return durationSchema();
  if (quantity === "ratio") return shareSchema();
  const number = numberSchema();
  return quantity === "number" && definedIn !== undefined ? number : v.pipe(number, atLeast(0));
}

function goodputLimitsSchema(): Schema<GoodputLimits> {
  const rate = v.pipe(numberSchema(), aboveZero());
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

/** Converts a precision to its form in a plan. */
export function toPrecisionPlan({ metric, within, where }: AnyPrecision): PrecisionPlan {
  return { metric: toMetricPlan(metric), ratio: toRatio(within), ...toPart(where) };
}

/** Converts an assertion to its form in a plan: with its limit in the base unit. */
export function toAssertionPlan({ metric, comparison, limit, where, abortAfter }: AnyAssertion): AssertionPlan {
  return {
    metric: toMetricPlan(metric),
    comparison,
    limit: toLimit(limit),
    ...(typeof abortAfter === "string" ? { abortAfterMs: toMs(abortAfter) } : {}),
    ...toPart(where),
  };
}

/** Separates the name of a phase from the tags of requests. */
function toPart(given: GivenTags = {}): Pick<AssertionPlan, "where" | "phase"> {
  const { [PHASE_TAG]: phase, ...tags } = toTexts(given);
  return defined({ phase, where: Object.keys(tags).length === 0 ? undefined : tags });
}

function toLimit(limit: Assertion["limit"]): number {
  if (typeof limit === "number") return limit;
  const pct = parsePercent(limit);
  return pct === undefined ? (parseDurationNs(limit as Duration) as number) : pct / 100;
}

/** Converts a metric to its form in a plan: with limits in nanoseconds. */
function toMetricPlan({ key, statistic, name, text, limits }: AssertedMetric): MetricPlan {
  const inNs = Object.entries(limits ?? {}).map(([of, limit]) => [of, toLimit(limit as Duration | number)]);
  return {
    key,
    ...defined({ statistic, name, text }),
    ...(limits === undefined ? {} : { limits: Object.fromEntries(inNs) as GoodputPlan }),
  };
}
