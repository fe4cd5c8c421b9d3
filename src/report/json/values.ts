import { certainEnds } from "../../measure/intervals/certainty.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import type { MeasuredPart, Quantity } from "../../measure/metrics/metric.ts";
import { listPlans, nameMetric } from "../../measure/metrics/metric-names.ts";
import { estimateMetric, type MetricEstimate } from "../../measure/metrics/read-metric.ts";
import type { MetricPlan } from "../../plan/assertions.ts";
import { nsToUs, usToNs } from "../../plan/units.ts";
import type { EstimateJson, ValueJson } from "../schema/parts.ts";

/** Values whose unit depends on the metric, in Rampart's JSON. */

/** The unit of a value in JSON, by what its metric counts. */
export const JSON_UNITS: Readonly<Record<Quantity, ValueJson["unit"]>> = {
  time: "us",
  rate: "perSec",
  count: "count",
  ratio: "ratio",
  number: "number",
};

/** Converts a value of a metric, such as a limit. @param value nanoseconds, per second, a count or a ratio */
export function toValueJson(metric: MetricPlan, value: number): ValueJson {
  const unit = JSON_UNITS[metricOf(metric).quantity];
  return { value: unit === "us" ? nsToUs(value) : value, unit };
}

/** Converts an estimate. Leaves out the interval if an end is undefined. */
export function toEstimateJson(
  metric: MetricPlan,
  { value, low, high }: { readonly value: number; readonly low?: number | null; readonly high?: number | null },
): EstimateJson {
  const convert = (end: number | null): number | null => (end === null ? null : toValueJson(metric, end).value);
  return {
    ...toValueJson(metric, value),
    ...(low === undefined || high === undefined ? {} : { low: convert(low), high: convert(high) }),
  };
}

/** Converts the metrics of the catalogue that have no field of their own; nothing without any. */
export function toValuesJson(
  part: MeasuredPart,
  batchSize: number,
): { readonly values?: Record<string, EstimateJson> } {
  const found = listPlans(({ isInJson }) => isInJson !== true).flatMap((metric) => {
    const estimate = estimateMetric(metric, part, batchSize);
    if (estimate === undefined) return [];
    const { value } = estimate;
    const { low, high } = certainEnds({ ...estimate, isRatio: metricOf(metric).quantity === "ratio" });
    return [[nameMetric(metric), toEstimateJson(metric, low === high ? { value } : { value, low, high })] as const];
  });
  return found.length === 0 ? {} : { values: Object.fromEntries(found) };
}

/** Returns a value of JSON, and its interval, in the units of a plan: times in nanoseconds. An absent end is null. */
export function inPlanUnit({ value, unit, low, high }: EstimateJson): MetricEstimate {
  const convert = (number: number): number => (unit === "us" ? usToNs(number) : number);
  const end = (found: number | null | undefined): number | null => (typeof found === "number" ? convert(found) : null);
  return { value: convert(value), low: end(low), high: end(high) };
}
