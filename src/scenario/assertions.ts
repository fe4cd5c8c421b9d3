import * as v from "valibot";
import type { AssertionPlan, MetricPlan } from "../plan/plan.ts";
import type { Schema } from "../plan/schema.ts";
import { type Duration, parseDurationNs } from "../plan/units.ts";
import { durationSchema } from "./fields.ts";

/** The assertions of scenarios. Each is judged at every level and decides the exit code. */

/** `latency`: from the actual send. `scheduledLatency`: from the intended send, so that a late client or a slow server cannot hide. */
export type LatencyName = "latency" | "scheduledLatency";

/** An assertion that looks at latencies of a name, or at none. */
export interface Assertion<N extends LatencyName = LatencyName> {
  readonly metric: MetricPlan & { readonly of?: N };
  readonly comparison: AssertionPlan["comparison"];
  readonly limit: Duration | number;
}

/** Limits of a latency. */
export interface LatencyMetric<N extends LatencyName> {
  below(limit: Duration): Assertion<N>;
  atMost(limit: Duration): Assertion<N>;
  above(limit: Duration): Assertion<N>;
  atLeast(limit: Duration): Assertion<N>;
}

/** Limits of a throughput in inferences per second. */
export interface ThroughputMetric {
  above(inferPerSec: number): Assertion<never>;
  atLeast(inferPerSec: number): Assertion<never>;
  below(inferPerSec: number): Assertion<never>;
  atMost(inferPerSec: number): Assertion<never>;
}

/** Limits of the share of failed requests, 0 to 1. */
export interface ErrorRateMetric {
  is(ratio: number): Assertion<never>;
  below(ratio: number): Assertion<never>;
  atMost(ratio: number): Assertion<never>;
}

/** The latency that a share of the requests does not exceed. @param value above 0 and below 100, such as 99.9 */
export function percentile<const N extends LatencyName = "latency">(value: number, of?: N): LatencyMetric<N> {
  return latencyMetric({ kind: "latency-percentile", percentile: value, of: of ?? "latency" });
}

/** The median latency. */
export function p50<const N extends LatencyName = "latency">(of?: N): LatencyMetric<N> {
  return percentile(50, of);
}

/** The 90th percentile of the latency. */
export function p90<const N extends LatencyName = "latency">(of?: N): LatencyMetric<N> {
  return percentile(90, of);
}

/** The 95th percentile of the latency. */
export function p95<const N extends LatencyName = "latency">(of?: N): LatencyMetric<N> {
  return percentile(95, of);
}

/** The 99th percentile of the latency. */
export function p99<const N extends LatencyName = "latency">(of?: N): LatencyMetric<N> {
  return percentile(99, of);
}

/** The average latency. */
export function average<const N extends LatencyName = "latency">(of?: N): LatencyMetric<N> {
  return latencyMetric({ kind: "latency-average", of: of ?? "latency" });
}

/** Inferences per second: requests completed, times the batch size. */
export function throughput(): ThroughputMetric {
  return comparisons({ kind: "throughput" });
}

/** Failed requests over all requests, 0 to 1. */
export function errorRate(): ErrorRateMetric {
  return comparisons({ kind: "error-ratio" });
}

function latencyMetric<N extends LatencyName>(metric: MetricPlan): LatencyMetric<N> {
  return comparisons(metric);
}

/** Every comparison; the types of the metrics offer those that make sense. */
function comparisons<N extends LatencyName, L extends Duration | number>(metric: MetricPlan) {
  const compare =
    (comparison: AssertionPlan["comparison"]) =>
    (limit: L): Assertion<N> => ({ metric: metric as Assertion<N>["metric"], comparison, limit });
  return {
    is: compare("is"),
    below: compare("below"),
    atMost: compare("at-most"),
    above: compare("above"),
    atLeast: compare("at-least"),
  };
}

/** The schema of an assertion. */
export function assertionSchema(): Schema<Assertion> {
  const of = v.picklist(["latency", "scheduledLatency"], 'must be "latency" or "scheduledLatency"');
  const share = v.pipe(
    v.number("must be a number"),
    v.gtValue(0, "must be above 0"),
    v.ltValue(100, "must be below 100"),
  );
  const amount = v.pipe(v.number("must be a number"), v.minValue(0, "must be 0 or more"));
  const assertion = <M extends v.ObjectEntries>(metric: M, limit: Schema<unknown>, comparisons: readonly string[]) =>
    v.object({
      metric: v.object(metric),
      comparison: v.picklist(comparisons, `must be one of ${comparisons.join(", ")}`),
      limit,
    });
  const sides = ["below", "at-most", "above", "at-least"];
  const ratio = v.pipe(amount, v.maxValue(1, "must be 1 or less: 0.01 is 1 %"));
  return v.lazy((input) => {
    const kind = (input as { metric?: { kind?: unknown } } | undefined)?.metric?.kind;
    if (kind === "latency-percentile") {
      return assertion({ kind: v.literal(kind), percentile: share, of }, durationSchema(), sides);
    }
    if (kind === "latency-average") return assertion({ kind: v.literal(kind), of }, durationSchema(), sides);
    if (kind === "throughput") return assertion({ kind: v.literal(kind) }, amount, sides);
    if (kind === "error-ratio") return assertion({ kind: v.literal(kind) }, ratio, ["is", "below", "at-most"]);
    return v.never('must be an assertion such as p99().below("25 ms")');
  }) as unknown as Schema<Assertion>;
}

/** The assertion of a plan: latencies in nanoseconds. */
export function toAssertionPlan({ metric, comparison, limit }: Assertion): AssertionPlan {
  return { metric, comparison, limit: typeof limit === "number" ? limit : (parseDurationNs(limit) as number) };
}
