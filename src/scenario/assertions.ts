import * as v from "valibot";
import type { GivenTags } from "../inputs/tagged-input.ts";
import {
  TOKEN_COUNTS,
  TOKEN_TIMES,
  type TokenCountName,
  type TokenMetricName,
  type TokenTimeName,
} from "../measure/tokens/metrics.ts";
import type { AssertionPlan } from "../plan/assertions.ts";
import type { PrecisionPlan } from "../plan/plan.ts";
import type { Schema } from "../plan/schema.ts";
import { type Duration, parseDurationNs } from "../plan/units.ts";
import type {
  AbortableAssertion,
  AssertedMetric,
  Assertion,
  LatencyName,
  MetricName,
  Percent,
  Precision,
} from "./assertion.ts";
import { durationSchema, parsePercent, spanSchema, toMs } from "./fields.ts";
import { givenTagsSchema, toTexts } from "./tags.ts";
import {
  comparisons,
  goodputLimitsSchema,
  isTokenCount,
  isTokenTime,
  type NumberMetric,
  toMetricPlan,
} from "./token-assertions.ts";

/** Limits for a latency or another time. */
export interface LatencyMetric<N extends LatencyName | TokenTimeName, W = never> {
  below(limit: Duration): AbortableAssertion<N, W>;
  atMost(limit: Duration): AbortableAssertion<N, W>;
  above(limit: Duration): AbortableAssertion<N, W>;
  atLeast(limit: Duration): AbortableAssertion<N, W>;
  /** The same of the requests with these tags. */
  where<const X extends GivenTags>(tags: X): LatencyMetric<N, X>;
  /** For `repeat`: how close to the mean over runs its confidence interval must lie. */
  within(percent: Percent): Precision<N, W>;
}

/** Metrics with percentiles and an average. */
export type RequestMetricName = LatencyName | TokenMetricName;

/** Limits for a metric of requests: durations or numbers. */
export type RequestMetric<N extends RequestMetricName> = [N] extends [TokenCountName]
  ? NumberMetric<N>
  : [N] extends [LatencyName | TokenTimeName]
    ? LatencyMetric<N>
    : never;

/** Limits for a throughput in inferences per second. */
export interface ThroughputMetric<W = never> {
  above(inferPerSec: number): AbortableAssertion<never, W>;
  atLeast(inferPerSec: number): AbortableAssertion<never, W>;
  below(inferPerSec: number): AbortableAssertion<never, W>;
  atMost(inferPerSec: number): AbortableAssertion<never, W>;
  /** The same of the requests with these tags. */
  where<const X extends GivenTags>(tags: X): ThroughputMetric<X>;
  /** For `repeat`: how close to the mean over runs its confidence interval must lie. */
  within(percent: Percent): Precision<never, W>;
}

/** Limits for the ratio of failed requests, 0 to 1. */
export interface ErrorRateMetric<W = never> {
  is(ratio: number): AbortableAssertion<never, W>;
  below(ratio: number): AbortableAssertion<never, W>;
  atMost(ratio: number): AbortableAssertion<never, W>;
  /** The same of the requests with these tags. */
  where<const X extends GivenTags>(tags: X): ErrorRateMetric<X>;
}

/**
 * Any percentile of the latency, such as `percentile(99.9)`.
 * @param value above 0 and below 100
 * @example
 * percentile(99.9).below("80 ms")
 */
export function percentile<const N extends RequestMetricName = "latency">(value: number, of?: N): RequestMetric<N> {
  const name: RequestMetricName = of ?? "latency";
  return requestMetric(
    isLatency(name)
      ? { kind: "latency-percentile", percentile: value, of: name }
      : { kind: "token-percentile", percentile: value, of: name },
  );
}

/**
 * The median latency.
 * @example
 * p50("timeToFirstToken").below("200 ms")
 */
export function p50<const N extends RequestMetricName = "latency">(of?: N): RequestMetric<N> {
  return percentile(50, of);
}

/**
 * The 90th percentile of the latency.
 * @example
 * p90("latency").below("20 ms")
 */
export function p90<const N extends RequestMetricName = "latency">(of?: N): RequestMetric<N> {
  return percentile(90, of);
}

/**
 * The 95th percentile of the latency.
 * @example
 * p95("scheduledLatency").below("30 ms")
 */
export function p95<const N extends RequestMetricName = "latency">(of?: N): RequestMetric<N> {
  return percentile(95, of);
}

/**
 * The 99th percentile of the latency.
 * @example
 * p99("latency").below("50 ms")
 */
export function p99<const N extends RequestMetricName = "latency">(of?: N): RequestMetric<N> {
  return percentile(99, of);
}

/**
 * The average latency.
 * @example
 * average("latency").below("10 ms")
 */
export function average<const N extends RequestMetricName = "latency">(of?: N): RequestMetric<N> {
  const name: RequestMetricName = of ?? "latency";
  return requestMetric(isLatency(name) ? { kind: "latency-average", of: name } : { kind: "token-average", of: name });
}

/**
 * Inferences per second: completed requests times batch size.
 * @example
 * throughput().atLeast(1000)
 */
export function throughput(): ThroughputMetric {
  return comparisons({ kind: "throughput" });
}

/** Limits for a number. */
export interface PlainMetric<W = never> {
  above(limit: number): AbortableAssertion<never, W>;
  atLeast(limit: number): AbortableAssertion<never, W>;
  below(limit: number): AbortableAssertion<never, W>;
  atMost(limit: number): AbortableAssertion<never, W>;
  is(limit: number): AbortableAssertion<never, W>;
  /** The same of the requests with these tags. */
  where<const X extends GivenTags>(tags: X): PlainMetric<X>;
  /** For `repeat`: how close to the mean over runs its confidence interval must lie. */
  within(percent: Percent): Precision<never, W>;
}

/** Statistics of the numbers that a target extracts from its answers. */
export interface ExtractedMetric {
  average(): PlainMetric;
  min(): PlainMetric;
  max(): PlainMetric;
  /** @param value above 0 and below 100 */
  percentile(value: number): PlainMetric;
}

/**
 * Numbers extracted from answers, by their name in `extract` of the target's options. Answers without a number there do not count.
 * @example
 * extracted("tokens").average().above(10)
 */
export function extracted(name: string): ExtractedMetric {
  const metric = (statistic: "average" | "min" | "max"): PlainMetric =>
    comparisons({ kind: "extracted", name, statistic });
  return {
    average: () => metric("average"),
    min: () => metric("min"),
    max: () => metric("max"),
    percentile: (value) => comparisons({ kind: "extracted", name, statistic: "percentile", percentile: value }),
  };
}

/**
 * Share of failed requests, 0 to 1.
 * @example
 * errorRate().atMost(0.01)
 */
export function errorRate(): ErrorRateMetric {
  return comparisons({ kind: "error-ratio" });
}

function requestMetric<N extends RequestMetricName>(metric: AssertedMetric): RequestMetric<N> {
  return comparisons(metric) as unknown as RequestMetric<N>;
}

function isLatency(name: string): name is LatencyName {
  return !isTokenTime(name) && !isTokenCount(name);
}

/** A validated assertion. */
export type CheckedAssertion = Assertion<MetricName, GivenTags>;

/** A validated precision. */
export type CheckedPrecision = Precision<MetricName, GivenTags>;

/** Returns the schema of an assertion. */
export function assertionSchema(): Schema<CheckedAssertion> {
  return schemaByMetric('must be an assertion such as p99().below("25 ms")', (metric, limit, comparisons) =>
    v.object({
      metric: v.object(metric),
      comparison: v.picklist(comparisons, `must be one of ${comparisons.join(", ")}`),
      limit,
      abortAfter: v.optional(spanSchema()),
      where: v.optional(givenTagsSchema()),
    }),
  ) as unknown as Schema<CheckedAssertion>;
}

/** Returns the schema of a precision. */
export function precisionSchema(): Schema<CheckedPrecision> {
  const within = v.pipe(
    v.string('must be a percentage such as "5 %"'),
    v.check((text) => (parsePercent(text) ?? 0) > 0, 'must be a percentage above 0, such as "5 %"'),
  );
  return schemaByMetric('must be a precision such as p99().within("5 %")', (metric) =>
    v.object({ metric: v.object(metric), within, where: v.optional(givenTagsSchema()) }),
  ) as unknown as Schema<CheckedPrecision>;
}

/**
 * Returns the schema of a value with a metric.
 * @param otherwise the message for anything else
 * @param build makes the schema from the metric's entries, the schema of its limits and its comparisons
 */
function schemaByMetric(
  otherwise: string,
  build: (metric: v.ObjectEntries, limit: Schema<unknown>, comparisons: readonly string[]) => v.GenericSchema,
): v.GenericSchema {
  const ofRule = `must be "latency", "scheduledLatency" or one of ${[...TOKEN_TIMES, ...TOKEN_COUNTS].join(", ")}`;
  // The metrics of tokens have kinds of their own. They stand here so that the error can name the nearest one.
  const of = v.pipe(
    v.picklist(["latency", "scheduledLatency", ...TOKEN_TIMES, ...TOKEN_COUNTS], ofRule),
    v.check(isLatency, ofRule),
  );
  const share = v.pipe(
    v.number("must be a number"),
    v.gtValue(0, "must be above 0"),
    v.ltValue(100, "must be below 100"),
  );
  const amount = v.pipe(v.number("must be a number"), v.minValue(0, "must be 0 or more"));
  const sides = ["below", "at-most", "above", "at-least"];
  const ratio = v.pipe(
    v.number("must be a number from 0 to 1: 0.01 is 1 %"),
    v.minValue(0, "must be 0 or more"),
    v.maxValue(1, "must be 1 or less: 0.01 is 1 %"),
  );
  return v.lazy((input) => {
    const { kind, of: name } = (input as { metric?: { kind?: unknown; of?: unknown } } | undefined)?.metric ?? {};
    if (kind === "token-percentile" || kind === "token-average") {
      const limit = isTokenTime(String(name)) ? durationSchema() : amount;
      const part: v.ObjectEntries = kind === "token-percentile" ? { percentile: share } : {};
      return build({ kind: v.literal(kind), ...part, of: v.picklist([...TOKEN_TIMES, ...TOKEN_COUNTS]) }, limit, sides);
    }
    if (kind === "output-tokens-per-sec") return build({ kind: v.literal(kind) }, amount, sides);
    if (kind === "goodput") {
      return build({ kind: v.literal(kind), limits: goodputLimitsSchema() }, amount, sides);
    }
    if (kind === "latency-percentile") {
      return build({ kind: v.literal(kind), percentile: share, of }, durationSchema(), sides);
    }
    if (kind === "latency-average") return build({ kind: v.literal(kind), of }, durationSchema(), sides);
    if (kind === "extracted")
      return build(
        {
          kind: v.literal(kind),
          name: v.pipe(v.string("must be a name in extract"), v.nonEmpty("must be a name in extract")),
          statistic: v.picklist(["average", "min", "max", "percentile"]),
          percentile: v.exactOptional(share),
        },
        v.number("must be a number"),
        [...sides, "is"],
      );
    if (kind === "throughput") return build({ kind: v.literal(kind) }, amount, sides);
    if (kind === "error-ratio") return build({ kind: v.literal(kind) }, ratio, ["is", "below", "at-most"]);
    return v.never(otherwise);
  });
}

/** Converts a precision to that of a plan. */
export function toPrecisionPlan({ metric, within, where }: CheckedPrecision): PrecisionPlan {
  const tags = where === undefined ? {} : { where: toTexts(where) };
  return { metric: toMetricPlan(metric), ratio: (parsePercent(within) as number) / 100, ...tags };
}

/** Converts an assertion to that of a plan: latencies in nanoseconds. */
export function toAssertionPlan({ metric, comparison, limit, where, abortAfter }: CheckedAssertion): AssertionPlan {
  return {
    metric: toMetricPlan(metric),
    comparison,
    limit: typeof limit === "number" ? limit : (parseDurationNs(limit) as number),
    ...(typeof abortAfter === "string" ? { abortAfterMs: toMs(abortAfter) } : {}),
    ...(where === undefined ? {} : { where: toTexts(where) }),
  };
}
