import * as v from "valibot";
import { REPORTED_PERCENTILES } from "../../measure/intervals/percentile-interval.ts";

/** Adds a description to a schema, for readers of the published one. */
export function described<S extends v.GenericSchema>(schema: S, text: string) {
  return v.pipe(schema, v.description(text));
}

/** A value with its unit as data. */
export type ValueJson = v.InferOutput<typeof valueSchema>;

/** A value with its unit and interval as data. */
export type EstimateJson = v.InferOutput<typeof estimateSchema>;

/** Schema of the name of a unit. */
export const unitSchema = described(
  v.string(),
  "us, perSec, count, ratio (0 to 1), the unit of a number such as W, or number without a known one.",
);

/** Schema of a value whose unit depends on the metric. */
export const valueSchema = v.object({ value: v.number(), unit: unitSchema });

const end = v.exactOptional(v.nullable(v.number()));

/** Schema of a value with its interval: an end is null if the sample gives no bound, and absent if there is no interval. */
export const estimateSchema = v.object({ ...valueSchema.entries, low: end, high: end });

/** Schema of a number of items, 0 or more. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Schema of a ratio, 0 or more. */
export const ratio = v.pipe(v.number(), v.minValue(0));

type ReportedPercentile = (typeof REPORTED_PERCENTILES)[number];

/** Returns an object with an entry for each percentile of a report: `{ p50, p99 }`. */
export function byPercentile<V>(
  ofPercentile: (percentile: ReportedPercentile) => V,
): Record<`p${ReportedPercentile}`, V> {
  const entries = REPORTED_PERCENTILES.map((percentile) => [`p${percentile}`, ofPercentile(percentile)]);
  return Object.fromEntries(entries) as Record<`p${ReportedPercentile}`, V>;
}
