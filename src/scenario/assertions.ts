import type { GivenTags } from "../inputs/tagged-input.ts";
import type { NameWith, SingleName } from "../measure/metrics/catalogue.ts";
import type { Comparison } from "../plan/assertions.ts";
import type { Duration, Percent, Percentile } from "../plan/units.ts";
import { refuseMore } from "./arguments.ts";
import type {
  AbortableAssertion,
  AssertedMetric,
  Assertion,
  GoodputLimits,
  LimitOf,
  MetricName,
  Precision,
} from "./assertion.ts";
import type { NamedTags } from "./tags.ts";

/** Limits of a metric: durations for times, percentages for ratios, otherwise numbers. `W`: as in {@link Assertion}. */
export interface MetricLimits<N extends MetricName, W extends string = never> {
  below(limit: LimitOf<N>): AbortableAssertion<N, W>;
  atMost(limit: LimitOf<N>): AbortableAssertion<N, W>;
  above(limit: LimitOf<N>): AbortableAssertion<N, W>;
  atLeast(limit: LimitOf<N>): AbortableAssertion<N, W>;
  /** The same limits for requests with these tags, or in the phase of the load that `phase` names. */
  where<const X extends GivenTags>(tags: X): MetricLimits<N, W | NamedTags<X>>;
  /** For `repeat`: largest half-width of the confidence interval, in percent of the mean over runs. */
  within(percent: Percent): Precision<N, W>;
}

/** Limits of the share of failed requests. */
export interface ErrorRateLimits<W extends string = never> {
  is(limit: LimitOf<"errorRate">): AbortableAssertion<"errorRate", W>;
  below(limit: LimitOf<"errorRate">): AbortableAssertion<"errorRate", W>;
  atMost(limit: LimitOf<"errorRate">): AbortableAssertion<"errorRate", W>;
  /** The same limits for requests with these tags, or in the phase of the load that `phase` names. */
  where<const X extends GivenTags>(tags: X): ErrorRateLimits<W | NamedTags<X>>;
}

/** Limits of goodput, in requests per second. @template K the metrics with limits */
export interface GoodputAssertions<K extends MetricName, W extends string = never> {
  below(limit: number): AbortableAssertion<K | "goodput", W>;
  atMost(limit: number): AbortableAssertion<K | "goodput", W>;
  above(limit: number): AbortableAssertion<K | "goodput", W>;
  atLeast(limit: number): AbortableAssertion<K | "goodput", W>;
  /** The same limits for requests with these tags, or in the phase of the load that `phase` names. */
  where<const X extends GivenTags>(tags: X): GoodputAssertions<K, W | NamedTags<X>>;
  /** For `repeat`: largest half-width of the confidence interval, in percent of the mean over runs. */
  within(percent: Percent): Precision<K | "goodput", W>;
}

/** Limits of extracted numbers. */
export interface ExtractedLimits<W extends string = never> extends MetricLimits<"extracted", W> {
  is(limit: number): AbortableAssertion<"extracted", W>;
  where<const X extends GivenTags>(tags: X): ExtractedLimits<W | NamedTags<X>>;
}

/** Statistics of the numbers that a target extracts from its responses. */
export interface ExtractedMetric<W extends string = never> {
  mean(): ExtractedLimits<W>;
  min(): ExtractedLimits<W>;
  max(): ExtractedLimits<W>;
  /** @param value from 1 to below 100 */
  percentile<const P extends number>(value: P & Percentile<P>): ExtractedLimits<W>;
  /** The share of successful responses whose value is this text, in percent. `true` and `false` are texts too. */
  share(text: string): ShareLimits<W>;
}

/** Limits of the share of an extracted text. */
export interface ShareLimits<W extends string = never> extends MetricLimits<"extractedShare", W> {
  is(limit: LimitOf<"extractedShare">): AbortableAssertion<"extractedShare", W>;
  where<const X extends GivenTags>(tags: X): ShareLimits<W | NamedTags<X>>;
}

/** Limits of a metric that the scenario derives from others, in its unit. */
export interface DerivedLimits<W extends string = never> extends MetricLimits<"derived", W> {
  is(limit: number): AbortableAssertion<"derived", W>;
  where<const X extends GivenTags>(tags: X): DerivedLimits<W | NamedTags<X>>;
}

/** The name of a metric; `never` if the given name is wrong, so that the wrong name is the only error. `A` are all names. */
type Named<N extends A, A extends MetricName> = [A] extends [N] ? never : N;

/**
 * Any percentile of a metric of requests, such as `percentile(99.9)`. Default metric: latency.
 * @param value from 1 to below 100
 * @example
 * percentile(99.9).below("80 ms")
 */
export function percentile<const P extends number, const N extends NameWith<"percentiles"> = "latency">(
  value: P & Percentile<P>,
  of?: N,
): MetricLimits<Named<N, NameWith<"percentiles">>> {
  refuseMore("percentile(value, of)", arguments);
  return limitsOf({ key: (of ?? "latency") as Named<N, NameWith<"percentiles">>, statistic: value });
}

/**
 * The median of a metric of requests. Default metric: latency.
 * @example
 * p50("timeToFirstToken").below("200 ms")
 */
export function p50<const N extends NameWith<"percentiles"> = "latency">(
  of?: N,
): MetricLimits<Named<N, NameWith<"percentiles">>> {
  refuseMore("p50(of)", arguments);
  return percentile(50, of);
}

/**
 * The 90th percentile of a metric of requests. Default metric: latency.
 * @example
 * p90("latency").below("20 ms")
 */
export function p90<const N extends NameWith<"percentiles"> = "latency">(
  of?: N,
): MetricLimits<Named<N, NameWith<"percentiles">>> {
  refuseMore("p90(of)", arguments);
  return percentile(90, of);
}

/**
 * The 95th percentile of a metric of requests. Default metric: latency.
 * @example
 * p95("scheduledLatency").below("30 ms")
 */
export function p95<const N extends NameWith<"percentiles"> = "latency">(
  of?: N,
): MetricLimits<Named<N, NameWith<"percentiles">>> {
  refuseMore("p95(of)", arguments);
  return percentile(95, of);
}

/**
 * The 99th percentile of a metric of requests. Default metric: latency.
 * @example
 * p99("latency").below("50 ms")
 */
export function p99<const N extends NameWith<"percentiles"> = "latency">(
  of?: N,
): MetricLimits<Named<N, NameWith<"percentiles">>> {
  refuseMore("p99(of)", arguments);
  return percentile(99, of);
}

/**
 * The mean of a metric of requests, of the server or of its GPUs. Default metric: latency.
 * @example
 * mean("serverQueue").below("10 ms")
 */
export function mean<const N extends NameWith<"mean"> = "latency">(of?: N): MetricLimits<Named<N, NameWith<"mean">>> {
  refuseMore("mean(of)", arguments);
  return limitsOf({ key: (of ?? "latency") as Named<N, NameWith<"mean">>, statistic: "mean" });
}

/**
 * The smallest value of a metric. Default metric: latency.
 * @example
 * min("outputTokens").atLeast(10)
 */
export function min<const N extends NameWith<"min"> = "latency">(of?: N): MetricLimits<Named<N, NameWith<"min">>> {
  refuseMore("min(of)", arguments);
  return limitsOf({ key: (of ?? "latency") as Named<N, NameWith<"min">>, statistic: "min" });
}

/**
 * The largest value of a metric. It grows with the number of requests. Default metric: latency.
 * @example
 * max("latency").below("1 s")
 */
export function max<const N extends NameWith<"max"> = "latency">(of?: N): MetricLimits<Named<N, NameWith<"max">>> {
  refuseMore("max(of)", arguments);
  return limitsOf({ key: (of ?? "latency") as Named<N, NameWith<"max">>, statistic: "max" });
}

/**
 * A metric with a single value per level, by its name.
 * @example
 * metric("serverCacheHits").atLeast("50 %")
 */
export function metric<const N extends SingleName>(name: N): MetricLimits<Named<N, SingleName>> {
  refuseMore("metric(name)", arguments);
  return limitsOf({ key: name as Named<N, SingleName> });
}

/**
 * Inferences per second: completed requests times batch size.
 * @example
 * throughput().atLeast(1000)
 */
export function throughput(): MetricLimits<"throughput"> {
  refuseMore("throughput()", arguments);
  return metric("throughput");
}

/**
 * Share of failed requests, in percent; 0 needs no sign.
 * @example
 * errorRate().atMost("1 %")
 */
export function errorRate(): ErrorRateLimits {
  refuseMore("errorRate()", arguments);
  return limitsOf({ key: "errorRate" });
}

/**
 * Output tokens of all responses per second.
 * @example
 * outputTokensPerSec().atLeast(2000)
 */
export function outputTokensPerSec(): MetricLimits<"outputTokensPerSec"> {
  refuseMore("outputTokensPerSec()", arguments);
  return metric("outputTokensPerSec");
}

/** The metrics with limits; `never` if a limit is wrong, so that this is the only error. */
type LimitedBy<L extends GoodputLimits> = GoodputLimits extends L ? never : keyof L & MetricName;

/**
 * Requests per second that keep all limits: limits on times of every request (`latency`, `scheduledLatency`, `firstResponse`), or on
 * metrics of tokens and `latency`.
 * @example
 * goodput({ timeToFirstToken: "200 ms", interTokenLatency: "20 ms" }).atLeast(10)
 */
export function goodput<const L extends GoodputLimits>(limits: L): GoodputAssertions<LimitedBy<L>> {
  refuseMore("goodput(limits)", arguments);
  return limitsOf<MetricName>({ key: "goodput", limits }) as GoodputAssertions<LimitedBy<L>>;
}

/** The name of a derived metric, as an assertion's reference. A name that is known only when the scenario runs is checked then. */
type DerivedName<N extends string> = string extends N ? never : `derived: ${N}`;

/**
 * A metric that the scenario derives from others, by its name in the field `derive`.
 * @example
 * derived("tokensPerJoule").atLeast(2)
 */
export function derived<const N extends string>(name: N): DerivedLimits<DerivedName<N>> {
  refuseMore("derived(name)", arguments);
  return limitsOf({ key: "derived", name });
}

/** The name of an extracted value, as an assertion's reference. A name that is known only when the scenario runs is checked then. */
type ExtractedName<N extends string> = string extends N ? never : `extracted: ${N}`;

/**
 * Values extracted from responses, by their name in `extract` of the target's options: statistics of numbers, which ignore responses
 * without a number, and the share of a text.
 * @example
 * extracted("tokens").mean().above(10)
 * extracted("finish").share("length").below("1 %")
 */
export function extracted<const N extends string>(name: N): ExtractedMetric<ExtractedName<N>> {
  refuseMore("extracted(name)", arguments);
  const of = (
    call: string,
    given: readonly unknown[],
    statistic: AssertedMetric["statistic"],
  ): ExtractedLimits<ExtractedName<N>> => {
    refuseMore(call, given);
    return limitsOf({ key: "extracted", name, statistic });
  };
  return {
    mean: (...given) => of("mean()", given, "mean"),
    min: (...given) => of("min()", given, "min"),
    max: (...given) => of("max()", given, "max"),
    percentile: (...given) => of("percentile(value)", given, given[0]),
    share: (...given) => {
      refuseMore("share(text)", given);
      return limitsOf({ key: "extractedShare", name, text: given[0] });
    },
  };
}

interface AllLimits<N extends MetricName, W extends string> extends Omit<MetricLimits<N, W>, "where"> {
  is(limit: LimitOf<N>): AbortableAssertion<N, W>;
  where<const X extends GivenTags>(tags: X): AllLimits<N, W | NamedTags<X>>;
}

/** Returns all comparisons; the types of metrics only offer those that make sense. */
export function limitsOf<N extends MetricName, W extends string = never>(
  metric: AssertedMetric<N>,
  where?: GivenTags,
): AllLimits<N, W> {
  const tags = where === undefined ? {} : { where };
  const compare =
    (name: string, comparison: Comparison) =>
    (...given: readonly [limit: LimitOf<N>]): AbortableAssertion<N, W> => {
      refuseMore(`${name}(limit)`, given);
      const assertion = { metric, comparison, limit: given[0], ...tags };
      const abortAfter = (...times: readonly [time: Duration]): Assertion<N, W> => {
        refuseMore("abortAfter(time)", times);
        return { ...assertion, abortAfter: times[0] };
      };
      // Not enumerable, because the data of an assertion must not contain functions.
      return Object.defineProperty(assertion, "abortAfter", { value: abortAfter }) as unknown as AbortableAssertion<
        N,
        W
      >;
    };
  return {
    where: (...given) => {
      refuseMore("where(tags)", given);
      return limitsOf(metric, given[0]);
    },
    is: compare("is", "is"),
    below: compare("below", "below"),
    atMost: compare("atMost", "at-most"),
    above: compare("above", "above"),
    atLeast: compare("atLeast", "at-least"),
    within: (...given) => {
      refuseMore("within(percent)", given);
      return { metric, within: given[0], ...tags };
    },
  };
}
