import * as v from "valibot";
import { count, type Parts, ratio } from "./parts.ts";

/** Latencies, token metrics, extracted values and GPUs in Rampart's JSON report. */

/** Latencies as data. */
export type LatencyJson = v.InferOutput<ReturnType<typeof latencySchema>>;

/** Statistics of a metric as data. */
export type SpreadJson = v.InferOutput<ReturnType<typeof spread>>;

/** Token metrics of a level as data. */
export type TokensJson = v.InferOutput<ReturnType<typeof tokensSchema>>;

/** Extracted values as data. */
export type ExtractedJson = v.InferOutput<ReturnType<typeof extractedSchema>>;

/** GPUs at a level as data. */
export type GpusJson = v.InferOutput<ReturnType<typeof gpusSchema>>;

/** A GPU as data. */
export type GpuJson = GpusJson["gpus"][number];

/** A percentile with its interval. */
function percentile({ object }: Parts) {
  return object({
    us: v.pipe(v.number(), v.description("Whole microseconds, rounded down.")),
    lowUs: v.pipe(v.nullable(v.number()), v.description("Null where the number is not certain.")),
    highUs: v.nullable(v.number()),
    effectiveCount: v.pipe(v.number(), v.description("Number of independent samples that stand behind it.")),
    isReliable: v.pipe(v.boolean(), v.description("False: too few samples.")),
    isDecided: v.exactOptional(
      v.pipe(v.boolean(), v.description("An assertion or a limit on it is certain at this level.")),
    ),
    neededCount: v.pipe(count(), v.description("Number of samples that would be enough.")),
  });
}

/** Latencies of the successful requests of a level. */
export function latencySchema(parts: Parts) {
  const { object } = parts;
  const one = percentile(parts);
  return object({
    count: count(),
    effectiveCount: v.number(),
    meanUs: v.number(),
    meanLowUs: v.nullable(v.pipe(v.number(), v.description("Lower end of the 95 % confidence interval."))),
    meanHighUs: v.nullable(v.number()),
    deviationUs: v.nullable(v.number()),
    minUs: v.number(),
    maxUs: v.number(),
    percentiles: object({ p50: one, p75: one, p90: one, p95: one, p99: one, "p99.9": one, "p99.99": one }),
    hdrHistogramUs: v.pipe(
      v.string(),
      v.description("All latencies in microseconds: a compressed HDR histogram, version 2, in base64."),
    ),
  });
}

/** Intervals of a metric at 95 % confidence, by statistic. */
function confidence({ object }: Parts) {
  const end = v.nullable(v.number());
  const one = object({
    low: end,
    high: end,
    effectiveCount: v.number(),
    isReliable: v.boolean(),
    isDecided: v.exactOptional(v.boolean()),
    neededCount: count(),
  });
  const mean = object({ low: end, high: end, effectiveCount: v.number() });
  return object({ mean, p50: one, p90: one, p99: one, "p99.9": one, "p99.99": one });
}

/** Statistics of a metric of tokens, or of numbers that a target extracts. */
function spread(parts: Parts) {
  const value = v.number();
  return parts.object({
    count: count(),
    mean: value,
    min: value,
    max: value,
    p50: value,
    p90: value,
    p99: value,
    "p99.9": value,
    "p99.99": value,
    confidence95: confidence(parts),
  });
}

/** Token metrics of a level. */
export function tokensSchema(parts: Parts) {
  return parts.object({
    requests: v.pipe(count(), v.description("Successful requests whose answer had content.")),
    withoutContent: count(),
    withoutEndMark: v.exactOptional(count()),
    failed: count(),
    durationSec: v.number(),
    outputTokensPerSec: v.exactOptional(v.number()),
    metrics: v.pipe(
      v.record(v.string(), spread(parts)),
      v.description("By name. Names that end in Us are times in microseconds: timeToFirstTokenUs."),
    ),
    warnings: v.array(v.string()),
  });
}

/** Values that a target extracts from the answers of a level, by name. */
export function extractedSchema(parts: Parts) {
  const one = parts.object({
    numbers: v.exactOptional(spread(parts)),
    percentileDigits: v.exactOptional(v.number()),
    texts: v.exactOptional(v.record(v.string(), count())),
    otherTexts: v.exactOptional(count()),
    missing: count(),
  });
  return v.record(v.string(), one);
}

/** Metrics of the server's GPUs at a level. */
export function gpusSchema({ object }: Parts) {
  const value = v.nullable(v.number());
  return object({
    readings: count(),
    gpus: v.array(
      object({
        uuid: v.string(),
        utilizationMeanRatio: v.nullable(ratio()),
        powerMeanWatts: value,
        powerLimitWatts: value,
        energyJoules: value,
        memoryUsedMaxBytes: value,
        memoryTotalBytes: value,
      }),
    ),
  });
}
