import * as v from "valibot";
import { REPORTED_PERCENTILES } from "../../measure/intervals/percentile-interval.ts";

/** Building blocks for schemas of a report. */
export interface Parts {
  /** Builds an object. Published schemas accept fields that a later version adds; tests reject fields without a schema. */
  readonly object: typeof v.object;
}

/** Adds a description to a schema, for readers of the published one. */
export function described<S extends v.GenericSchema>(schema: S, text: string) {
  return v.pipe(schema, v.description(text));
}

/** A value with its unit as data. */
export type ValueJson = v.InferOutput<ReturnType<typeof valueSchema>>;

/** A value with its unit and interval as data. */
export type EstimateJson = v.InferOutput<ReturnType<typeof estimateSchema>>;

/** Returns the schema of the name of a unit. */
export function unitSchema() {
  return described(
    v.string(),
    "us, perSec, count, ratio (0 to 1), the unit of a number such as W, or number without a known one.",
  );
}

/** Returns the schema of a value whose unit depends on the metric. */
export function valueSchema({ object }: Parts) {
  return object({ value: v.number(), unit: unitSchema() });
}

/** Returns the schema of a value with its interval: an end is null if the sample gives no bound, and absent if there is no interval. */
export function estimateSchema(parts: Parts) {
  const end = v.exactOptional(v.nullable(v.number()));
  return parts.object({ ...valueSchema(parts).entries, low: end, high: end });
}

/** Returns the schema of a number of items, 0 or more. */
export function count() {
  return v.pipe(v.number(), v.integer(), v.minValue(0));
}

/** Returns the schema of a ratio, 0 or more. */
export function ratio() {
  return v.pipe(v.number(), v.minValue(0));
}

type ReportedPercentile = (typeof REPORTED_PERCENTILES)[number];

/** Returns an object with an entry for each percentile of a report: `{ p50, p99 }`. */
export function byPercentile<V>(
  ofPercentile: (percentile: ReportedPercentile) => V,
): Record<`p${ReportedPercentile}`, V> {
  const entries = REPORTED_PERCENTILES.map((percentile) => [`p${percentile}`, ofPercentile(percentile)]);
  return Object.fromEntries(entries) as Record<`p${ReportedPercentile}`, V>;
}
