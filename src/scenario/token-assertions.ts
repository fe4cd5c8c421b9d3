import * as v from "valibot";
import type { GivenTags } from "../inputs/tagged-input.ts";
import {
  findAsserted,
  isTimeMetric,
  LIMITED_NAMES,
  TOKEN_COUNTS,
  TOKEN_TIMES,
  type TokenCountName,
  type TokenTimeName,
} from "../measure/tokens/metrics.ts";
import type { AssertionPlan, MetricPlan } from "../plan/assertions.ts";
import type { Schema } from "../plan/schema.ts";
import type { GoodputPlan } from "../plan/tokens.ts";
import { type Duration, parseDurationNs } from "../plan/units.ts";
import type {
  AbortableAssertion,
  AssertedMetric,
  Assertion,
  GoodputLimits,
  MetricName,
  Percent,
  Precision,
  TokenSystemName,
} from "./assertion.ts";
import { durationSchema, strictOptions } from "./fields.ts";

/** Limits for a count, or for a rate per second. */
export interface NumberMetric<N extends TokenCountName | TokenSystemName, W = never> {
  above(limit: number): AbortableAssertion<N, W>;
  atLeast(limit: number): AbortableAssertion<N, W>;
  below(limit: number): AbortableAssertion<N, W>;
  atMost(limit: number): AbortableAssertion<N, W>;
  /** The same of the requests with these tags. */
  where<const X extends GivenTags>(tags: X): NumberMetric<N, X>;
  /** For `repeat`: how close to the mean over runs its confidence interval must lie. */
  within(percent: Percent): Precision<N, W>;
}

/**
 * Output tokens of all responses per second.
 * @example
 * outputTokensPerSec().atLeast(2000)
 */
export function outputTokensPerSec(): NumberMetric<"outputTokensPerSec"> {
  return comparisons({ kind: "output-tokens-per-sec" });
}

/**
 * Requests per second that keep all limits.
 * @example
 * goodput({ timeToFirstToken: "200 ms", interTokenLatency: "20 ms" }).atLeast(10)
 */
export function goodput(limits: GoodputLimits): NumberMetric<"goodput"> {
  return comparisons({ kind: "goodput", limits });
}

interface Comparisons<N extends MetricName, L, W>
  extends Readonly<Record<"is" | "below" | "atMost" | "above" | "atLeast", (limit: L) => AbortableAssertion<N, W>>> {
  where<const X extends GivenTags>(tags: X): Comparisons<N, L, X>;
  within(percent: Percent): Precision<N, W>;
}

/** Returns all comparisons; the metrics' types only offer those that make sense. */
export function comparisons<N extends MetricName, L extends Duration | number = number, W = never>(
  metric: AssertedMetric,
  where?: W,
): Comparisons<N, L, W> {
  const compare =
    (comparison: AssertionPlan["comparison"]) =>
    (limit: L): AbortableAssertion<N, W> => {
      const tags = where === undefined ? {} : { where };
      const assertion = { metric: metric as Assertion<N>["metric"], comparison, limit, ...tags };
      const abortAfter = (time: Duration): Assertion<N, W> => ({ ...assertion, abortAfter: time });
      // Not enumerable: the data of an assertion has no functions.
      return Object.defineProperty(assertion, "abortAfter", { value: abortAfter }) as unknown as AbortableAssertion<
        N,
        W
      >;
    };
  return {
    where: (tags) => comparisons(metric, tags),
    is: compare("is"),
    below: compare("below"),
    atMost: compare("at-most"),
    above: compare("above"),
    atLeast: compare("at-least"),
    within: (percent) => ({
      metric: metric as Assertion<N>["metric"],
      within: percent,
      ...(where === undefined ? {} : { where }),
    }),
  };
}

/** Whether a name is that of a token time. */
export function isTokenTime(name: string): name is TokenTimeName {
  return TOKEN_TIMES.includes(name);
}

/** Whether a name is that of a token count or rate. */
export function isTokenCount(name: string): name is TokenCountName {
  return TOKEN_COUNTS.includes(name);
}

/** Returns the schema of goodput limits. */
export function goodputLimitsSchema(): Schema<GoodputLimits> {
  const rate = v.pipe(v.number("must be a number"), v.gtValue(0, "must be above 0"));
  const limits = LIMITED_NAMES.map((name) => {
    const metric = findAsserted(name);
    return [name, v.optional(metric === undefined || isTimeMetric(metric) ? durationSchema() : rate)] as const;
  });
  return v.pipe(
    strictOptions(Object.fromEntries(limits)),
    v.check((limits) => Object.keys(limits).length > 0, "must have a limit"),
  ) as Schema<GoodputLimits>;
}

/** Converts a metric to that of a plan: limits in nanoseconds. */
export function toMetricPlan(metric: AssertedMetric): MetricPlan {
  if (metric.kind !== "goodput") return metric;
  const limits = Object.entries(metric.limits).map(([name, limit]) => [
    name,
    typeof limit === "number" ? limit : parseDurationNs(limit as Duration),
  ]);
  return { kind: "goodput", limits: Object.fromEntries(limits) as GoodputPlan };
}
