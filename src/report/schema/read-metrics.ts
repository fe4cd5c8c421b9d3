import { type Interval, scaleInterval } from "../../measure/intervals/certainty.ts";
import { findEntry } from "../../measure/metrics/catalogue.ts";
import { jsonNameOf } from "../../measure/metrics/metric.ts";
import { BUNCHED_RATIO } from "../../measure/tokens/metrics.ts";
import { usToNs } from "../../plan/units.ts";
import type { MetricsJson, OverJson, OverMetricsJson, SpreadJson } from "./metrics.ts";
import type { EstimateJson } from "./parts.ts";

/** Reads the metrics of Rampart's JSON in their base units. Only this file knows how they are written. */

/** A statistic by its name in JSON: `mean`, `max`, `p99`. */
export type StatisticName = keyof Omit<SpreadJson, "count" | "deviation" | "confidence95" | "hdrHistogram">;

/** A value in the base unit of its metric. */
export interface ReadEstimate extends Interval {
  readonly value: number;
  /** False: its interval is not informative, and no verdict on it is certain. Default: true */
  readonly isReliable?: boolean;
}

/** Reads a metric; undefined if it was not measured. @param statistic absent: the metric has one value */
export type ReadMetric = (key: string, statistic?: StatisticName) => ReadEstimate | undefined;

/** Returns a function that converts values of a metric in JSON to its base unit. */
export function scaleOf(key: string): (value: number) => number {
  return findEntry(key)?.quantity === "time" ? usToNs : (value) => value;
}

function find<M>(metrics: Readonly<Record<string, M>> | undefined, key: string): M | undefined {
  const entry = findEntry(key);
  return entry && metrics?.[jsonNameOf(key, entry)];
}

/** Returns the statistics of a metric, in the unit of JSON; undefined if it was not measured. */
export function findSpread(metrics: MetricsJson | undefined, key: string): SpreadJson | undefined {
  const found = find(metrics, key);
  return found !== undefined && "mean" in found ? found : undefined;
}

/** Reads a metric; undefined if it was not measured. @param statistic absent: the metric has one value */
export function readMetric(
  metrics: MetricsJson | undefined,
  key: string,
  statistic?: StatisticName,
): ReadEstimate | undefined {
  const found = find(metrics, key);
  if (found === undefined) return undefined;
  if (statistic !== undefined && "mean" in found) return readStatistic(found, statistic, scaleOf(key));
  return "value" in found ? scaled(found, scaleOf(key)) : undefined;
}

/** Reads a statistic of a sample. @param scale factor to the base unit */
export function readStatistic(
  found: SpreadJson,
  statistic: StatisticName,
  scale: (value: number) => number = (value) => value,
): ReadEstimate | undefined {
  const value = found[statistic];
  if (value === undefined) return undefined;
  const interval = statistic === "min" || statistic === "max" ? undefined : found.confidence95?.[statistic];
  const isDecided = interval !== undefined && "isDecided" in interval && interval.isDecided === true;
  const read = scaled({ value, ...interval }, scale);
  return isDecided ? { ...read, isReliable: true } : read;
}

/** Reads the combined value of several runs. @param statistic absent: the metric has one value */
export function readOver(
  metrics: OverMetricsJson | undefined,
  key: string,
  statistic?: StatisticName,
): ReadEstimate | undefined {
  const over = findOver(metrics, key, statistic);
  return over && scaled({ ...over, value: over.mean }, scaleOf(key));
}

/** Returns a reader of the metrics of a level, or of some of its requests, without those that tables and charts omit. */
export function readerOf(metrics: MetricsJson): ReadMetric {
  return withoutCut((key, statistic) => readMetric(metrics, key, statistic));
}

/** Returns a reader of the combined metrics of several runs. */
export function readerOver(metrics: OverMetricsJson): ReadMetric {
  return withoutCut((key, statistic) => readOver(metrics, key, statistic));
}

/** Omits a metric if it shows how responses were split, not how fast tokens were generated. */
function withoutCut(read: ReadMetric): ReadMetric {
  const isCut = (): boolean => (read("bunchedRatio", "mean")?.value ?? 0) >= BUNCHED_RATIO;
  return (key, statistic) => (findEntry(key)?.showsCuts === true && isCut() ? undefined : read(key, statistic));
}

/** Returns the combined value of several runs, in the unit of JSON; undefined if no run measured it. */
export function findOver(
  metrics: OverMetricsJson | undefined,
  key: string,
  statistic?: StatisticName,
): OverJson | undefined {
  const found = find(metrics, key);
  if (found === undefined) return undefined;
  if ("count" in found) return statistic === undefined ? found : undefined;
  return statistic && found[statistic];
}

/** Converts a value with a field `unit`, and its interval, to the base unit: times in nanoseconds. */
export function inBaseUnit({ unit, ...written }: EstimateJson): ReadEstimate {
  return scaled(written, unit === "us" ? usToNs : (value) => value);
}

interface Written {
  readonly value: number;
  readonly low?: number | null | undefined;
  readonly high?: number | null | undefined;
}

/** Scales a value and its interval. An exact value has no ends at all. */
function scaled({ value, low, high }: Written, scale: (value: number) => number): ReadEstimate {
  const isReliable = low !== null && high !== null;
  return { value: scale(value), ...scaleInterval({ low: low ?? null, high: high ?? null }, scale), isReliable };
}
