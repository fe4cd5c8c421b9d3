import type { LimitedRateName, LimitedTimeName, TokenMetricName } from "../measure/tokens/metrics.ts";
import type { AssertionPlan, MetricPlan } from "../plan/assertions.ts";
import type { Duration } from "../plan/units.ts";

/**
 * `latency` counts from the actual send, `scheduledLatency` from the intended send, which includes delays by a late client or a slow
 * server.
 */
export type LatencyName = "latency" | "scheduledLatency";

/** The metrics that an assertion can refer to by name. */
export type MetricName = LatencyName | TokenMetricName | TokenSystemName;

/** An assertion on metrics with these names. `W` is the type of the tags that it names; `never`: it is on all requests. */
export interface Assertion<N extends MetricName = MetricName, W = never> {
  /** What is compared. */
  readonly metric: AssertedMetric & { readonly of?: N };
  /** How it is compared with the limit. */
  readonly comparison: AssertionPlan["comparison"];
  /** A duration for times, otherwise a number in the unit of the metric. */
  readonly limit: Duration | number;
  /** Judges only the requests with these tags. Default: all requests. */
  readonly where?: W | undefined;
  /** The run ends early when the assertion does not hold over this time. A function on what builders return, which sets it. */
  readonly abortAfter?: Duration | ((time: Duration) => Assertion<N, W>);
}

/** An assertion that may end the run. */
export interface AbortableAssertion<N extends MetricName = MetricName, W = never> extends Assertion<N, W> {
  /**
   * Ends the run early, with exit code 65, when the assertion does not hold over this time: it is judged on the requests that ended in the
   * last part of the measured time, again and again. Until that much is measured, nothing ends.
   * @example
   * p99("latency").below("1 s").abortAfter("10 s")
   */
  readonly abortAfter: (time: Duration) => Assertion<N, W>;
}

/** A percentage: `"5 %"`. */
export type Percent = `${number} %` | `${number}%`;

/** How precise a metric must be over repeated runs. */
export interface Precision<N extends MetricName = MetricName, W = never> {
  readonly metric: AssertedMetric & { readonly of?: N };
  /** How far the 95 % confidence interval of the mean over runs may reach to each side, in percent of the mean. */
  readonly within: Percent;
  /** Looks only at the requests with these tags. Default: all requests. */
  readonly where?: W | undefined;
}

/** Metrics over all responses. */
export type TokenSystemName = "outputTokensPerSec" | "goodput";

/** Limits that a good request meets: maximum times (`latency`: of the whole request), and minimum rates. */
export type GoodputLimits = {
  readonly [Name in LimitedTimeName | "latency"]?: Duration;
} & {
  readonly [Name in LimitedRateName]?: number;
};

/** A metric of an assertion. Limits are still durations. */
export type AssertedMetric =
  | Exclude<MetricPlan, { kind: "goodput" }>
  | { readonly kind: "goodput"; readonly limits: GoodputLimits };
