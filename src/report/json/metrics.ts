import { build, encodeIntoCompressedBase64 } from "hdr-histogram-js";
import type { Extracted } from "../../measure/extracted-tally.ts";
import { certainEnds, type Interval, scaleInterval, type Uncertain } from "../../measure/intervals/certainty.ts";
import { metricOf, reportedMetrics } from "../../measure/metrics/catalogue.ts";
import type { MeasuredPart, Metric, Quantity } from "../../measure/metrics/metric.ts";
import { deriveMetric, estimateMetric, sampleOf } from "../../measure/metrics/read-metric.ts";
import { type Sample, sampleOfExtracted } from "../../measure/metrics/sample.ts";
import { deviationOf, forEachValue, type Sketch } from "../../measure/sketch.ts";
import type { DerivedPlan, MetricPlan } from "../../plan/assertions.ts";
import { defined } from "../../plan/objects.ts";
import { nsToUs } from "../../plan/units.ts";
import type { DerivedJson, ExtractedJson, MetricsJson, SingleMetricJson, SpreadJson } from "../schema/metrics.ts";
import { byPercentile, type EstimateJson, type ValueJson } from "../schema/parts.ts";

/** Writes the metrics of the catalogue to Rampart's JSON. Only this file does; `read-metrics.ts` reads them. */

/** Percentiles of the encoded histogram are up to 0.1 % too high. */
const SIGNIFICANT_DIGITS = 3;
const HIGHEST_US = 3_600_000_000; // 1 h

interface MetricsChoice {
  /** Chooses metrics. Default: all. Responses for which no stream was requested have no token times. */
  readonly isWanted?: (entry: Metric) => boolean;
  /** Returns the percentiles of a metric with a certain verdict, which need no mark. Default: none */
  readonly decided?: (key: string) => readonly number[];
}

/** Converts all metrics that a part has. @param batchSize inferences per request */
export function toMetricsJson(
  part: MeasuredPart,
  batchSize: number,
  { isWanted = () => true, decided = () => [] }: MetricsChoice = {},
): MetricsJson {
  const found = reportedMetrics().flatMap(({ key, name, entry }) => {
    if (!isWanted(entry)) return [];
    const json =
      entry.statistics === undefined ? toSingleJson(key, part, batchSize) : toSample(key, entry, part, decided(key));
    return json === undefined ? [] : [[name, json] as const];
  });
  return Object.fromEntries(found);
}

function toSingleJson(key: string, part: MeasuredPart, batchSize: number): SingleMetricJson | undefined {
  const { quantity, ends, counts } = metricOf({ key }) as Metric & { readonly ends?: unknown };
  const estimate = estimateMetric({ key }, part, batchSize);
  if (estimate === undefined) return undefined;
  const { value } = estimate;
  return {
    value,
    ...(ends === undefined ? {} : certainEnds({ ...estimate, isRatio: quantity === "ratio" })),
    ...counts?.(part, { key }),
  };
}

function toSample(key: string, entry: Metric, part: MeasuredPart, decided: readonly number[]): SpreadJson | undefined {
  const sample = sampleOf({ key }, part);
  return sample && toSpreadJson(sample, entry, decided);
}

/** Converts the statistics of a sample, times to microseconds. @param decided percentiles with a certain verdict. Default: none */
export function toSpreadJson(
  sample: Sample,
  { quantity, statistics = [] }: Pick<Metric, "quantity" | "statistics">,
  decided: readonly number[] = [],
): SpreadJson {
  const scale = quantity === "time" ? nsToUs : (value: number): number => value;
  const deviation = sample.sketch && deviationOf(sample.sketch);
  const one = (name: "min" | "max"): Partial<SpreadJson> => {
    const value = statistics.includes(name) ? sample[name] : undefined;
    return value === undefined ? {} : { [name]: scale(value) };
  };
  return {
    count: sample.count,
    mean: scale(sample.mean),
    ...(sample.sketch === undefined ? {} : { deviation: deviation === undefined ? null : scale(deviation) }),
    ...one("min"),
    ...one("max"),
    ...toPercentilesJson(sample, scale, decided),
    ...(sample.hasHistogram === true && sample.sketch !== undefined
      ? { hdrHistogram: encodeHistogram(sample.sketch) }
      : {}),
  };
}

function toPercentilesJson(
  sample: Sample,
  scale: (value: number) => number,
  decided: readonly number[],
): Partial<SpreadJson> {
  const mean = sample.estimateMean?.({});
  const { estimatePercentile } = sample;
  if (mean === undefined || estimatePercentile === undefined) return {};
  const estimates = byPercentile((percentile) => estimatePercentile(percentile));
  // The ends are null if the number is not certain.
  const ends = (found: Uncertain): Interval => scaleInterval(certainEnds(found), scale);
  return {
    ...byPercentile((percentile) => scale(estimates[`p${percentile}`].value)),
    confidence95: {
      mean: { ...ends(mean), effectiveCount: mean.effectiveCount },
      ...byPercentile((percentile) => {
        const found = estimates[`p${percentile}`];
        const { effectiveCount, isReliable, neededCount } = found;
        const verdict: { readonly isDecided?: boolean } = decided.includes(percentile) ? { isDecided: true } : {};
        return { ...ends(found), effectiveCount, isReliable, ...verdict, neededCount };
      }),
    },
  };
}

/** Encodes latencies in microseconds as a compressed HDR histogram in base64, the format of HdrHistogram's tools. */
function encodeHistogram(sketch: Sketch): string {
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: SIGNIFICANT_DIGITS,
  });
  forEachValue(sketch, (ns, count) => {
    histogram.recordValueWithCount(Math.min(HIGHEST_US, Math.max(1, nsToUs(ns))), count);
  });
  return encodeIntoCompressedBase64(histogram);
}

/** Converts the extracted values of a level, by name. */
export function toExtractedJson(columns: readonly Extracted[]): ExtractedJson {
  return Object.fromEntries(columns.map((column) => [column.name, toColumnJson(column)]));
}

/** Converts the metrics that a scenario derives, by name. @param batchSize inferences per request */
export function toDerivedJson(derived: readonly DerivedPlan[], part: MeasuredPart, batchSize: number): DerivedJson {
  return Object.fromEntries(
    derived.map((one) => {
      const { unit, better } = one;
      const { value, missing, error } = deriveMetric(one, part, batchSize);
      return [one.name, defined({ value, missing: missing ?? error, unit, better })];
    }),
  );
}

function toColumnJson(column: Extracted): ExtractedJson[string] {
  const { missingCount, texts, otherCount, unit, better } = column;
  const { count, digits } = column.numbers;
  const numbers = (): SpreadJson => toSpreadJson(sampleOfExtracted(column), metricOf({ key: "extracted" }));
  return {
    ...defined({ unit, better }),
    ...(count === 0 ? {} : { numbers: numbers(), ...defined({ percentileDigits: digits }) }),
    ...(texts.length === 0 ? {} : { texts: Object.fromEntries([...texts].sort(([, a], [, b]) => b - a)) }),
    ...(otherCount === 0 ? {} : { otherTexts: otherCount }),
    missing: missingCount,
  };
}

const JSON_UNITS = { time: "us", rate: "perSec", count: "count", ratio: "ratio", number: "number" } as const;

/** Returns the unit of a value in JSON whose name does not contain it: `us`, `perSec`, `count`, `ratio`, `W`; `number` if unknown. */
export function jsonUnitOf({
  quantity,
  unit,
}: {
  readonly quantity: Quantity;
  readonly unit?: string | undefined;
}): string {
  return quantity === "number" && unit !== undefined ? unit : JSON_UNITS[quantity];
}

/** Converts a value of a metric, such as a limit. @param value nanoseconds, per second, a count or a ratio */
export function toValueJson(metric: MetricPlan, value: number): ValueJson {
  const unit = jsonUnitOf(metricOf(metric));
  return { value: unit === "us" ? nsToUs(value) : value, unit };
}

/** Converts an estimate. Omits the interval if an end is undefined. */
export function toEstimateJson(
  metric: MetricPlan,
  { value, low, high }: Pick<Uncertain, "value"> & Partial<Interval>,
): EstimateJson {
  return {
    ...toValueJson(metric, value),
    ...(low === undefined || high === undefined
      ? {}
      : scaleInterval({ low, high }, (end) => toValueJson(metric, end).value)),
  };
}
