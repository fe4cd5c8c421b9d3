import * as v from "valibot";
import { byPercentile, count, described, type Parts } from "./parts.ts";

/** Metrics in Rampart's JSON report: those of the catalogue by their names with the unit, extracted values, and GPUs. */

/** The metrics of a level as data. */
export type MetricsJson = v.InferOutput<ReturnType<typeof metricsSchema>>;

/** A metric with one value as data. */
export type SingleMetricJson = v.InferOutput<ReturnType<typeof single>>;

/** Statistics of a metric as data. */
export type SpreadJson = v.InferOutput<ReturnType<typeof spreadSchema>>;

/** The combined metrics of several runs, as data. */
export type OverMetricsJson = v.InferOutput<ReturnType<typeof overMetricsSchema>>;

/** A value over whole runs as data. */
export type OverJson = v.InferOutput<ReturnType<typeof overRuns>>;

/** Token data of a level in addition to its metrics, as data. */
export type TokensJson = v.InferOutput<ReturnType<typeof tokensSchema>>;

/** Derived metrics as data. */
export type DerivedJson = v.InferOutput<ReturnType<typeof derivedSchema>>;

/** Extracted values as data. */
export type ExtractedJson = v.InferOutput<ReturnType<typeof extractedSchema>>;

/** Readings of the server's metrics page at a level, as data. */
export type TelemetryJson = v.InferOutput<ReturnType<typeof telemetrySchema>>;

const end = () => v.nullable(v.number());

/** Returns the schema of a metric with one value. */
function single({ object }: Parts) {
  return object({
    value: v.number(),
    low: v.exactOptional(
      described(end(), "Lower end of the 95 % confidence interval; null: the sample has none that helps."),
    ),
    high: v.exactOptional(end()),
    count: v.exactOptional(described(count(), "Of a ratio of requests: their number.")),
    total: v.exactOptional(described(count(), "Of a ratio of requests: the number that it is of.")),
  });
}

/** Returns the schema of intervals of a metric at 95 % confidence, by statistic. */
function confidence({ object }: Parts) {
  const one = v.exactOptional(
    object({
      low: described(end(), "Null where the number is not certain."),
      high: end(),
      effectiveCount: described(v.number(), "Number of independent samples that it is computed from."),
      isReliable: described(v.boolean(), "False: too few samples."),
      isDecided: v.exactOptional(described(v.boolean(), "An assertion or a limit on it is certain at this level.")),
      neededCount: described(count(), "Number of samples that would be enough."),
    }),
  );
  const mean = object({ low: end(), high: end(), effectiveCount: v.number() });
  return object({ mean, ...byPercentile(() => one) });
}

/** Returns the schema of statistics of a metric. Only the available ones are present. */
export function spreadSchema(parts: Parts) {
  const value = v.exactOptional(v.number());
  return parts.object({
    count: count(),
    mean: v.number(),
    deviation: v.exactOptional(end()),
    min: value,
    max: value,
    ...byPercentile(() => value),
    confidence95: v.exactOptional(confidence(parts)),
    hdrHistogram: v.exactOptional(
      described(
        v.string(),
        "All values, in their unit: a compressed HDR histogram, version 2, in base64, which can be merged.",
      ),
    ),
  });
}

/** Returns the schema of the metrics of a level, or of some of its requests. */
export function metricsSchema(parts: Parts) {
  return described(
    v.record(v.string(), v.union([single(parts), spreadSchema(parts)])),
    "By name, which ends in the unit: latencyUs, throughputPerSec, errorRateRatio, gpuPowerWatts.",
  );
}

/** Returns the schema of a value over whole runs. */
export function overRuns({ object }: Parts) {
  return object({
    count: count(),
    mean: v.number(),
    low: described(end(), "Lower end of the 95 % interval of the mean."),
    high: end(),
    deviation: described(end(), "Between runs."),
    withinDeviation: end(),
    betweenToWithinRatio: end(),
  });
}

/** Returns the schema of the combined metrics of several runs: for a metric with statistics, each statistic. */
export function overMetricsSchema(parts: Parts) {
  const over = v.exactOptional(overRuns(parts));
  const statistics = parts.object({
    mean: over,
    min: over,
    max: over,
    ...byPercentile(() => over),
  });
  return v.record(v.string(), v.union([overRuns(parts), statistics]));
}

/** Returns the schema of token data of a level in addition to its metrics. */
export function tokensSchema(parts: Parts) {
  return parts.object({
    withContent: described(count(), "Successful requests whose response had content."),
    withoutContent: count(),
    withoutEndMark: v.exactOptional(count()),
    failed: count(),
    warnings: v.array(v.string()),
  });
}

/** Returns the schema of metrics that a scenario derives from others at a level, by name. */
export function derivedSchema({ object }: Parts) {
  const one = object({
    value: v.exactOptional(v.number()),
    missing: v.exactOptional(described(v.string(), "Why it has no value.")),
    ...customFacts(),
  });
  return v.record(v.string(), one);
}

/** Returns the schema of combined metrics of several runs that a scenario derives, by name. */
export function overDerivedSchema(parts: Parts) {
  return v.record(v.string(), parts.object({ ...overRuns(parts).entries, ...customFacts() }));
}

/** Returns the schema of a scenario's definition of a custom metric. */
function customFacts() {
  return {
    unit: v.exactOptional(v.string()),
    better: v.exactOptional(v.picklist(["lower", "higher"])),
  };
}

/** Returns the schema of values that a target extracts from the responses of a level, by name. */
export function extractedSchema(parts: Parts) {
  const one = parts.object({
    ...customFacts(),
    numbers: v.exactOptional(spreadSchema(parts)),
    percentileDigits: v.exactOptional(v.number()),
    texts: v.exactOptional(v.record(v.string(), count())),
    otherTexts: v.exactOptional(count()),
    missing: count(),
  });
  return v.record(v.string(), one);
}

/** Returns the schema of readings of the server's metrics page at a level, by GPU. */
export function telemetrySchema(parts: Parts) {
  return parts.object({
    readings: count(),
    gpus: v.array(
      parts.object({
        uuid: v.string(),
        metrics: metricsSchema(parts),
        gpuPowerLimitWatts: v.exactOptional(v.number()),
        gpuMemoryTotalBytes: v.exactOptional(v.number()),
      }),
    ),
  });
}
