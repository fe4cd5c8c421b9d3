import * as v from "valibot";
import { findEntry, hasStatistic, METRIC_KEYS } from "../measure/metrics/catalogue.ts";
import type { Metric } from "../measure/metrics/metric.ts";
import { customFactsEntries, derivedValueSchema, type MetricPlan } from "../plan/assertions.ts";
import { hinted, lazySchema, numberSchema, type Schema } from "../plan/schema.ts";

/** Schemas of the catalogue's metrics, in scenarios and in plans. The two differ only in the limits of a goodput. */

/** Returns the schema of the metric with a key. @param limits the schema of a goodput's limits */
export function metricSchemaOf(key: string, entry: Metric, limits: v.GenericSchema): v.GenericSchema {
  const statistic = v.pipe(
    v.union([v.picklist(["mean", "min", "max"]), percentileSchema()]),
    v.check((one) => hasStatistic(entry, one), `must be a statistic that ${key} has: ${entry.statistics?.join(", ")}`),
  );
  return v.object({
    key: v.literal(key),
    ...(entry.statistics === undefined ? {} : { statistic }),
    ...(entry.definedIn === undefined ? {} : customEntries(entry, entry.definedIn)),
    ...(entry.needsLimits === true ? { limits } : {}),
  } as v.ObjectEntries);
}

/** Returns the schema of any metric of a level. @param limits the schema of a goodput's limits */
export function metricSchema(limits: v.GenericSchema): Schema<MetricPlan> {
  return lazySchema<MetricPlan>((input) => {
    const { key } = (input ?? {}) as { readonly key?: unknown };
    const entry = typeof key === "string" ? findEntry(key) : undefined;
    if (entry === undefined || entry.isOfReports === true)
      return v.looseObject({
        key: v.picklist(
          METRIC_KEYS.filter((one) => findEntry(one)?.isOfReports !== true),
          "must be a metric",
        ),
      });
    return metricSchemaOf(key as string, entry, limits);
  });
}

/** Returns the fields of a metric that a scenario defines. A plan also has the scenario's definition. */
function customEntries({ counts }: Metric, definedIn: "extract" | "derive"): v.ObjectEntries {
  const rule = `must be a name in ${definedIn}`;
  const name = v.pipe(v.string(rule), v.nonEmpty(rule));
  if (counts !== undefined) return { name, text: v.string("must be text") };
  return {
    name,
    ...customFactsEntries(),
    ...(definedIn === "derive" ? { value: v.exactOptional(derivedValueSchema()) } : {}),
  };
}

/** Returns the schema of a percentile: from 1 to below 100. */
export function percentileSchema(): Schema<number> {
  return v.pipe(
    numberSchema("must have a number as percentile"),
    v.check(
      hinted((percentile) => percentile < 100, "Use max(…), the largest value."),
      "must have a percentile below 100",
    ),
    v.check(
      hinted(
        (percentile) => percentile >= 1,
        (given) => `Write ${given > 0 ? Number((100 * given).toPrecision(6)) : 99}.`,
      ),
      "must have a percentile of 1 or more",
    ),
  );
}
