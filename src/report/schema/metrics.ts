import * as v from "valibot";
import { byPercentile, count, described } from "./parts.ts";

/** Metrics in Rampart's JSON report: those of the catalogue by their names with the unit, extracted values, and GPUs. */

/** The metrics of a level as data. */
export type MetricsJson = v.InferOutput<typeof metricsSchema>;

/** A metric with one value as data. */
export type SingleMetricJson = v.InferOutput<typeof single>;

/** Statistics of a metric as data. */
export type SpreadJson = v.InferOutput<typeof spreadSchema>;

/** The combined metrics of several runs, as data. */
export type OverMetricsJson = v.InferOutput<typeof overMetricsSchema>;

/** A value over whole runs as data. */
export type OverJson = v.InferOutput<typeof overRuns>;

/** Token data of a level in addition to its metrics, as data. */
export type TokensJson = v.InferOutput<typeof tokensSchema>;

/** Derived metrics as data. */
export type DerivedJson = v.InferOutput<typeof derivedSchema>;

/** Extracted values as data. */
export type ExtractedJson = v.InferOutput<typeof extractedSchema>;

/** Readings of the server's metrics page at a level, as data. */
export type TelemetryJson = v.InferOutput<typeof telemetrySchema>;

const end = v.nullable(v.number());

const single = v.object({
  value: v.number(),
  low: v.exactOptional(
    described(end, "Lower end of the 95 % confidence interval; null: the sample has none that helps."),
  ),
  high: v.exactOptional(end),
  count: v.exactOptional(described(count, "Of a ratio of requests: their number.")),
  total: v.exactOptional(described(count, "Of a ratio of requests: the number that it is of.")),
});

const percentileInterval = v.exactOptional(
  v.object({
    low: described(end, "Null where the number is not certain."),
    high: end,
    effectiveCount: described(v.number(), "Number of independent samples that it is computed from."),
    isReliable: described(v.boolean(), "False: too few samples."),
    isDecided: v.exactOptional(described(v.boolean(), "An assertion or a limit on it is certain at this level.")),
    neededCount: described(count, "Number of samples that would be enough."),
  }),
);

/** Schema of the intervals of a metric at 95 % confidence, by statistic. */
const confidence = v.object({
  mean: v.object({ low: end, high: end, effectiveCount: v.number() }),
  ...byPercentile(() => percentileInterval),
});

const value = v.exactOptional(v.number());

/** Schema of the statistics of a metric. Only the available ones are present. */
export const spreadSchema = v.object({
  count: count,
  mean: v.number(),
  deviation: v.exactOptional(end),
  min: value,
  max: value,
  ...byPercentile(() => value),
  confidence95: v.exactOptional(confidence),
  hdrHistogram: v.exactOptional(
    described(
      v.string(),
      "All values, in their unit: a compressed HDR histogram, version 2, in base64, which can be merged.",
    ),
  ),
});

/** Schema of the metrics of a level, or of some of its requests. */
export const metricsSchema = described(
  v.record(v.string(), v.union([single, spreadSchema])),
  "By name, which ends in the unit: latencyUs, throughputPerSec, errorRateRatio, gpuPowerWatts.",
);

/** Schema of a value over whole runs. */
export const overRuns = v.object({
  count: count,
  mean: v.number(),
  low: described(end, "Lower end of the 95 % interval of the mean."),
  high: end,
  deviation: described(end, "Between runs."),
  withinDeviation: end,
  betweenToWithinRatio: end,
});

const over = v.exactOptional(overRuns);
const overStatistics = v.object({ mean: over, min: over, max: over, ...byPercentile(() => over) });

/** Schema of the combined metrics of several runs: for a metric with statistics, each statistic. */
export const overMetricsSchema = v.record(v.string(), v.union([overRuns, overStatistics]));

/** Schema of the token data of a level in addition to its metrics. */
export const tokensSchema = v.object({
  withContent: described(count, "Successful requests whose response had content."),
  withoutContent: count,
  withoutEndMark: v.exactOptional(count),
  failed: count,
  warnings: v.array(v.string()),
});

/** Schema entries of a scenario's definition of a custom metric. */
const customFacts = {
  unit: v.exactOptional(v.string()),
  better: v.exactOptional(v.picklist(["lower", "higher"])),
};

/** Schema of metrics that a scenario derives from others at a level, by name. */
export const derivedSchema = v.record(
  v.string(),
  v.object({
    value: v.exactOptional(v.number()),
    missing: v.exactOptional(described(v.string(), "Why it has no value.")),
    ...customFacts,
  }),
);

/** Schema of combined metrics of several runs that a scenario derives, by name. */
export const overDerivedSchema = v.record(v.string(), v.object({ ...overRuns.entries, ...customFacts }));

/** Schema of values that a target extracts from the responses of a level, by name. */
export const extractedSchema = v.record(
  v.string(),
  v.object({
    ...customFacts,
    numbers: v.exactOptional(spreadSchema),
    percentileDigits: v.exactOptional(v.number()),
    texts: v.exactOptional(v.record(v.string(), count)),
    otherTexts: v.exactOptional(count),
    missing: count,
  }),
);

/** Schema of the readings of the server's metrics page at a level, by GPU. */
export const telemetrySchema = v.object({
  readings: count,
  gpus: v.array(
    v.object({
      uuid: v.string(),
      metrics: metricsSchema,
      gpuPowerLimitWatts: v.exactOptional(v.number()),
      gpuMemoryTotalBytes: v.exactOptional(v.number()),
    }),
  ),
});
