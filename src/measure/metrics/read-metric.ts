import type { DerivedPlan, MetricPlan } from "../../plan/assertions.ts";
import { nearestName } from "../../plan/nearest-name.ts";
import { defined } from "../../plan/objects.ts";
import { nsToSec } from "../../plan/units.ts";
import { gapRatio, isHiddenByGaps } from "../completion-gaps.ts";
import { INTERVAL_CONFIDENCE } from "../intervals/effective-count.ts";
import { type RunValue, standardErrorOf } from "../intervals/over-runs.ts";
import { explainUnstreamed } from "../tokens/token-warnings.ts";
import { findEntry, hasStatistic, METRIC_KEYS, type MetricKey, metricOf } from "./catalogue.ts";
import { computeDerived, type Derived, type LevelRead, type ReadLevel } from "./derived.ts";
import type { Asked, MeasuredPart, Metric, Need } from "./metric.ts";
import { meantKey, parseStatistic } from "./metric-names.ts";
import type { Ends, Sample } from "./sample.ts";

/** Reads values of metrics in measured parts. */

/** A metric's value with its confidence interval, in its base unit. */
export interface MetricEstimate extends Ends {
  readonly value: number;
}

/** Returns the values of a metric with statistics; undefined for a metric with one value, and if there are no values. */
export function sampleOf(metric: MetricPlan, part: MeasuredPart): Sample | undefined {
  const entry = metricOf(metric);
  if (entry.statistics === undefined) return undefined;
  const sample = entry.sample(part, metric);
  if (sample === undefined || sample.count === 0) return undefined;
  return entry.isBlindToGaps === true ? unsureInGaps(sample, part) : sample;
}

/** Makes percentiles uncertain if their share of the time is in gaps, because a closed loop does not send then. */
function unsureInGaps(sample: Sample, { window }: MeasuredPart): Sample {
  const { estimatePercentile } = sample;
  if (window.isScheduled || window.gaps === undefined || estimatePercentile === undefined) return sample;
  const ratio = gapRatio(window, 0);
  return {
    ...sample,
    estimatePercentile: (percentile, confidence) => {
      const found = estimatePercentile(percentile, confidence);
      return isHiddenByGaps(ratio, percentile) ? { ...found, isBlind: true, isReliable: false } : found;
    },
  };
}

/** Returns a metric's value; undefined if the part has no data for it. @param batchSize inferences per request */
export function metricValue(metric: MetricPlan, part: MeasuredPart, batchSize: number): number | undefined {
  const entry = metricOf(metric);
  if (entry.statistics === undefined) return entry.value(part, metric, { batchSize, level: levelOf(part, batchSize) });
  const sample = sampleOf(metric, part);
  return sample && statisticOf(sample, metric);
}

function statisticOf(sample: Sample, { statistic = "mean" }: MetricPlan): number | undefined {
  return typeof statistic === "number" ? sample.percentile?.(statistic) : sample[statistic];
}

/** Returns a run's value with its standard error, and for a ratio of requests with their counts; undefined if there is no value. */
export function runValue(metric: MetricPlan, part: MeasuredPart, batchSize: number): RunValue | undefined {
  const value = metricValue(metric, part, batchSize);
  if (value === undefined) return undefined;
  const { counts } = metricOf(metric);
  if (counts !== undefined) return { value, requests: counts(part, metric) };
  const ends = endsOf(metric, part, { value, batchSize, confidence: INTERVAL_CONFIDENCE });
  return { value, standardError: ends && standardErrorOf(ends.low, ends.high) };
}

/**
 * Estimates a metric, with the same interval as in reports for the same confidence. A value without an interval counts as
 * exact: maxima, minima and values that the server reports.
 * @param confidence of the interval. Default: 0.95
 * @returns undefined without a value
 */
export function estimateMetric(
  metric: MetricPlan,
  part: MeasuredPart,
  batchSize: number,
  confidence: number = INTERVAL_CONFIDENCE,
): MetricEstimate | undefined {
  const value = metricValue(metric, part, batchSize);
  if (value === undefined) return undefined;
  return { value, ...(endsOf(metric, part, { value, batchSize, confidence }) ?? { low: value, high: value }) };
}

function endsOf(metric: MetricPlan, part: MeasuredPart, asked: Asked): Ends | undefined {
  const entry = metricOf(metric);
  if (entry.statistics === undefined) return entry.ends?.(part, metric, asked);
  const sample = sampleOf(metric, part);
  const { statistic = "mean" } = metric;
  if (typeof statistic === "number") {
    const found = sample?.estimatePercentile?.(statistic, asked.confidence);
    if (found === undefined) return undefined;
    const { low, high, effectiveCount, neededEffectiveCount, isBlind = false } = found;
    return { low, high, effectiveCount, neededEffectiveCount, isBlind };
  }
  const found = statistic === "mean" ? sample?.estimateMean?.({ confidence: asked.confidence }) : undefined;
  return found && { low: found.low, high: found.high };
}

/** For each need, returns the reason why a measured part does not meet it; undefined if it does. */
const NEEDS: Readonly<Record<Need, (part: MeasuredPart) => string | undefined>> = {
  schedule: ({ window }) => (window.isScheduled ? undefined : "the load has no schedule"),
  responses: ({ window }) => (window.isDecoupled ? undefined : "each request has one response"),
  tokens: ({ window: { tokens } }) => (tokens === undefined ? "no tokens were measured" : undefined),
  streams: ({ window: { tokens } }) => (tokens === undefined ? "no tokens were measured" : explainUnstreamed(tokens)),
  statistics: ({ window }) =>
    window.server === undefined ? "the server reported no statistics of these requests" : undefined,
  gauges: ({ window }) => ((window.gauges?.count ?? 0) === 0 ? "the server's metrics were not read" : undefined),
};

/** Explains why a metric has no value; undefined if it is only known that nothing was measured. @param batchSize inferences per request */
export function explainMissing(metric: MetricPlan, part: MeasuredPart, batchSize: number): string | undefined {
  const entry = metricOf(metric);
  return (
    (entry.needs === undefined ? undefined : NEEDS[entry.needs](part)) ??
    entry.explain?.(part, metric, levelOf(part, batchSize))
  );
}

/** Computes a metric that a scenario derives from others. @param batchSize inferences per request */
export function deriveMetric({ value }: Pick<DerivedPlan, "value">, part: MeasuredPart, batchSize: number): Derived {
  return computeDerived(value, levelOf(part, batchSize));
}

/** Returns a reader of a part's metrics for metrics that are derived from them. */
function levelOf(part: MeasuredPart, batchSize: number): ReadLevel {
  return {
    nearest,
    read: (key, name) => {
      const metric = { key, ...defined({ name }) };
      const entry = isDerivable(key, name) ? findEntry(key) : undefined;
      if (entry === undefined) return undefined;
      const toSi = (value: number): number => (entry.quantity === "time" ? nsToSec(value) : value);
      const missing = (): LevelRead => ({ missing: explainMissing(metric, part, batchSize) ?? "nothing was measured" });
      if (entry.statistics === undefined) {
        const value = metricValue(metric, part, batchSize);
        return value === undefined ? missing() : { value: toSi(value) };
      }
      const sample = sampleOf(metric, part);
      return sample === undefined ? missing() : { statistic: (text) => readStatistic(entry, sample, text, toSi) };
    },
  };
}

function readStatistic(
  entry: Metric,
  sample: Sample,
  text: string,
  toSi: (value: number) => number,
): number | undefined {
  const statistic = parseStatistic(text);
  const isKnown = statistic !== undefined && hasStatistic(entry, statistic);
  const value = isKnown ? statisticOf(sample, { key: "", statistic }) : undefined;
  return value === undefined ? undefined : toSi(value);
}

/** Keys of metrics from which others can be derived: metrics that scenarios refer to by key alone, and extracted values. */
const DERIVABLE = METRIC_KEYS.filter((key) => isDerivable(key, undefined));

function nearest(name: string): string | undefined {
  return nearestName(name, DERIVABLE) ?? meantKey(name);
}

function isDerivable(key: string, name: string | undefined): boolean {
  if (name !== undefined) return key === "extracted";
  const { definedIn, isOfReports = false, needsLimits = false } = findEntry(key) ?? { isOfReports: true };
  return definedIn === undefined && !isOfReports && !needsLimits;
}

/** Returns a level for checks in which every metric has a different value. @param names of the extracted values */
export function exampleLevel(names: readonly string[]): ReadLevel {
  return {
    nearest,
    read: (key, name) => {
      const entry = isDerivable(key, name) ? findEntry(key) : undefined;
      if (entry === undefined || (name !== undefined && !names.includes(name))) return undefined;
      const value = 2 + METRIC_KEYS.indexOf(key as MetricKey) + names.indexOf(name ?? "") / (1 + names.length);
      if (entry.statistics === undefined) return { value };
      return {
        statistic: (text) => {
          const statistic = parseStatistic(text);
          if (statistic === undefined || !hasStatistic(entry, statistic)) return undefined;
          const place = { min: 0, mean: 0.55, max: 1 };
          return value + 0.1 * (typeof statistic === "number" ? statistic / 101 : place[statistic]);
        },
      };
    },
  };
}
